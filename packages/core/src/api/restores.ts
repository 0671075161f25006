import { z } from 'zod'
import { remotePolicySchema, restoreRequestSchema } from '#command/messages.ts'
import { type RestoreState, restoreStateSchema } from '#command/state.ts'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { previewSchema, restoreReportSchema } from '#restore/report.ts'
import { pageOf, pageQuerySchema, projectParams, restoreParams, timeSchema } from './common.ts'
import { defineRoute } from './route.ts'

export type { RestoreState }

export const restoreSchema = z.object({
  id: restoreIdSchema,
  status: restoreStateSchema,
  project: projectIdSchema,
  workspace: workspaceIdSchema,
  machine: machineIdSchema,
  machineName: z.string(),
  machineOnline: z.boolean(),
  /** The machine's policy for remote restores, as it last said: with `ask` the yes is given there, not here. */
  machinePolicy: remotePolicySchema.nullable(),
  /** The turn that is to be undone; for an undo of a restore, that restore's turn. */
  turn: turnIdSchema,
  request: restoreRequestSchema.nullable(),
  requestedBy: z.object({ kind: z.enum(['local', 'user', 'token']), name: z.string() }),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  plan: previewSchema.nullable(),
  report: restoreReportSchema.nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
})
export type Restore = z.infer<typeof restoreSchema>

export const createRestore = defineRoute({
  method: 'POST',
  path: '/v1/restores',
  summary: 'Ask a machine to return a workspace to before a turn',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  body: restoreRequestSchema,
  response: restoreSchema,
  status: 202,
  errors: [
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'TURN_NOT_FOUND',
    'WORKSPACE_NOT_FOUND',
    'MACHINE_REVOKED',
    'VALIDATION_FAILED',
    'RATE_LIMITED',
  ],
})

export const getRestore = defineRoute({
  method: 'GET',
  path: '/v1/restores/{restore}',
  summary: 'A restore with its plan and report; waits for news when asked to',
  access: { kind: 'person' },
  params: restoreParams,
  query: z.object({ waitSeconds: z.coerce.number().int().min(0).max(30).default(0) }),
  response: restoreSchema,
  errors: ['UNAUTHENTICATED', 'RESTORE_NOT_FOUND'],
})

export const listRestores = defineRoute({
  method: 'GET',
  path: '/v1/projects/{project}/restores',
  summary: 'The restores of a project, newest first',
  access: { kind: 'member', role: 'viewer' },
  params: projectParams,
  query: pageQuerySchema,
  response: pageOf(restoreSchema),
  errors: ['UNAUTHENTICATED', 'PROJECT_NOT_FOUND'],
})

export const confirmRestore = defineRoute({
  method: 'POST',
  path: '/v1/restores/{restore}/confirm',
  summary: 'Carry out the plan that was shown',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  params: restoreParams,
  body: z.strictObject({ token: z.string().max(128) }),
  response: restoreSchema,
  status: 202,
  errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'RESTORE_NOT_FOUND', 'RESTORE_STATE_INVALID', 'TOKEN_STALE'],
})

export const cancelRestore = defineRoute({
  method: 'POST',
  path: '/v1/restores/{restore}/cancel',
  summary: 'Give up a restore that was not begun',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  params: restoreParams,
  response: restoreSchema,
  errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'RESTORE_NOT_FOUND', 'RESTORE_STATE_INVALID'],
})

/** Asks for a new restore: of the turn that the finished restore is. */
export const undoRestore = defineRoute({
  method: 'POST',
  path: '/v1/restores/{restore}/undo',
  summary: 'Take a finished restore back',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  params: restoreParams,
  response: restoreSchema,
  status: 202,
  errors: [
    'UNAUTHENTICATED',
    'FORBIDDEN',
    'RESTORE_NOT_FOUND',
    'RESTORE_STATE_INVALID',
    'MACHINE_REVOKED',
    'RATE_LIMITED',
  ],
})

/** Body: a signed envelope of type `plan` whose body is {@link planBodySchema}. */
export const planBodySchema = z.strictObject({
  restore: restoreIdSchema,
  workspace: workspaceIdSchema,
  /** Null when the machine made no plan; then `refusal` says why. */
  preview: previewSchema.nullable(),
  refusal: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
  /** True when the machine's policy lets this very plan be applied without another look. */
  mayRunAtOnce: z.boolean(),
  plannedAt: timeSchema,
})
export type PlanBody = z.infer<typeof planBodySchema>

/** Body of an envelope of type `report`. Local restores are reported too: then `workspace` and `target` say of what. */
export const reportBodySchema = z.strictObject({
  restore: restoreIdSchema,
  workspace: workspaceIdSchema,
  target: turnIdSchema,
  report: restoreReportSchema,
})
export type ReportBody = z.infer<typeof reportBodySchema>

const envelope = { contentType: 'application/vnd.turnback.envelope', maxBytes: 64 * 1024 * 1024 } as const

export const putPlan = defineRoute({
  method: 'PUT',
  path: '/v1/restores/{restore}/plan',
  summary: 'A machine’s signed plan',
  access: { kind: 'machine' },
  params: restoreParams,
  bytes: envelope,
  response: z.object({ status: restoreStateSchema }),
  errors: [
    'UNAUTHENTICATED',
    'RESTORE_NOT_FOUND',
    'RESTORE_STATE_INVALID',
    'SIGNATURE_INVALID',
    'VALIDATION_FAILED',
  ],
})

export const putReport = defineRoute({
  method: 'PUT',
  path: '/v1/restores/{restore}/report',
  summary: 'A machine’s signed report',
  access: { kind: 'machine' },
  params: restoreParams,
  bytes: envelope,
  response: z.object({ status: restoreStateSchema }),
  errors: [
    'UNAUTHENTICATED',
    'WORKSPACE_NOT_FOUND',
    'RESTORE_STATE_INVALID',
    'SIGNATURE_INVALID',
    'VALIDATION_FAILED',
  ],
})
