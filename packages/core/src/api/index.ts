import { getMe, setUp, signInByLink } from './accounts.ts'
import { getHealth, getReadiness } from './health.ts'
import {
  createEnrollment,
  enrollMachine,
  listCommands,
  listMachines,
  putWorkspace,
  removeMachine,
} from './machines.ts'
import { createProject, getProject, listProjects, listWorkspaces } from './projects.ts'
import { findMissingBlobs, putHead, putPack, putTurn } from './push.ts'
import {
  cancelRestore,
  confirmRestore,
  createRestore,
  getRestore,
  listRestores,
  putPlan,
  putReport,
  undoRestore,
} from './restores.ts'
import { getDiff, getFile, getTurn, listEntries, listTurns } from './turns.ts'

/** The wire contract: each route of the service. OpenAPI, the access matrix and the typed callers are made from it. */
export const routes = {
  getHealth,
  getReadiness,
  setUp,
  signInByLink,
  getMe,
  listProjects,
  createProject,
  getProject,
  listWorkspaces,
  listMachines,
  createEnrollment,
  enrollMachine,
  removeMachine,
  listCommands,
  putWorkspace,
  findMissingBlobs,
  putPack,
  putTurn,
  putHead,
  listTurns,
  getTurn,
  listEntries,
  getDiff,
  getFile,
  createRestore,
  getRestore,
  listRestores,
  confirmRestore,
  cancelRestore,
  undoRestore,
  putPlan,
  putReport,
} as const

export { type Person, personSchema, roleSchema } from './accounts.ts'
export { type Problem, problemSchema } from './common.ts'
export { type LiveNews, type LiveRequest, liveNewsSchema, liveRequestSchema } from './live.ts'
export { type Machine, machineSchema } from './machines.ts'
export { type Project, projectSchema, type WorkspaceSummary } from './projects.ts'
export { ENVELOPE_CONTENT_TYPE, PACK_CONTENT_TYPE } from './push.ts'
export {
  type PlanBody,
  planBodySchema,
  type ReportBody,
  type Restore,
  type RestoreState,
  reportBodySchema,
  restoreSchema,
} from './restores.ts'
export {
  type Access,
  defineRoute,
  type Method,
  type Role,
  type Route,
  type RouteAnswer,
  type RouteInput,
  type RouteParsed,
  type RouteResult,
} from './route.ts'
export { type FileDiff, fileDiffSchema, type TurnSummary, turnSummarySchema } from './turns.ts'
