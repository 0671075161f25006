import { z } from 'zod'
import { machineIdSchema, projectIdSchema, workspaceIdSchema } from '#ids.ts'
import { roleSchema } from './accounts.ts'
import { nameSchema, pageOf, pageQuerySchema, projectParams, timeSchema } from './common.ts'
import { defineRoute } from './route.ts'

export const projectSchema = z.object({
  id: projectIdSchema,
  name: z.string(),
  role: roleSchema,
  createdAt: timeSchema,
  turnCount: z.int(),
  lastTurnAt: timeSchema.nullable(),
})
export type Project = z.infer<typeof projectSchema>

export const listProjects = defineRoute({
  method: 'GET',
  path: '/v1/projects',
  summary: 'The projects you are a member of',
  access: { kind: 'person' },
  query: pageQuerySchema,
  response: pageOf(projectSchema),
  errors: ['UNAUTHENTICATED'],
})

export const createProject = defineRoute({
  method: 'POST',
  path: '/v1/projects',
  summary: 'Make a project; whoever makes it is its first admin',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  body: z.strictObject({ name: nameSchema }),
  response: projectSchema,
  status: 201,
  errors: ['UNAUTHENTICATED', 'VALIDATION_FAILED'],
})

export const getProject = defineRoute({
  method: 'GET',
  path: '/v1/projects/{project}',
  summary: 'One project',
  access: { kind: 'member', role: 'viewer' },
  params: projectParams,
  response: projectSchema,
  errors: ['UNAUTHENTICATED', 'PROJECT_NOT_FOUND'],
})

export const workspaceSchema = z.object({
  id: workspaceIdSchema,
  machine: machineIdSchema,
  machineName: z.string(),
  root: z.string(),
  name: z.string(),
  turnCount: z.int(),
  lastTurnAt: timeSchema.nullable(),
})
export type WorkspaceSummary = z.infer<typeof workspaceSchema>

export const listWorkspaces = defineRoute({
  method: 'GET',
  path: '/v1/projects/{project}/workspaces',
  summary: 'The folders that turns of this project come from',
  access: { kind: 'member', role: 'viewer' },
  params: projectParams,
  query: pageQuerySchema,
  response: pageOf(workspaceSchema),
  errors: ['UNAUTHENTICATED', 'PROJECT_NOT_FOUND'],
})
