import { z } from 'zod'
import { remotePolicySchema, serverMessageSchema } from '#command/messages.ts'
import { commandIdSchema, machineIdSchema, projectIdSchema, workspaceIdSchema } from '#ids.ts'
import { machineParams, nameSchema, pageOf, pageQuerySchema, timeSchema, workspaceParams } from './common.ts'
import { defineRoute } from './route.ts'

export const machineSchema = z.object({
  id: machineIdSchema,
  name: z.string(),
  owner: z.object({ id: z.string(), name: z.string() }),
  isMine: z.boolean(),
  online: z.boolean(),
  lastSeenAt: timeSchema.nullable(),
  version: z.string().nullable(),
  policy: z.object({ remote: remotePolicySchema }).nullable(),
  /** First characters of the signing key's SHA-256, as `turnback status` shows it too. */
  fingerprint: z.string(),
  enrolledAt: timeSchema,
  workspaces: z.array(
    z.object({ id: workspaceIdSchema, project: projectIdSchema, name: z.string(), root: z.string() }),
  ),
})
export type Machine = z.infer<typeof machineSchema>

export const listMachines = defineRoute({
  method: 'GET',
  path: '/v1/machines',
  summary: 'Your machines, and those that push into your projects',
  access: { kind: 'person' },
  query: pageQuerySchema,
  response: pageOf(machineSchema),
  errors: ['UNAUTHENTICATED'],
})

/** A code is good for one machine, ten minutes and five tries. */
export const createEnrollment = defineRoute({
  method: 'POST',
  path: '/v1/machines/enrollments',
  summary: 'Make a one-time code to connect a machine with',
  access: { kind: 'person' },
  takesIdempotencyKey: true,
  body: z.strictObject({ project: projectIdSchema.optional() }),
  response: z.object({
    code: z.string(),
    expiresAt: timeSchema,
    /** What to type on the machine. The code stands in the fragment, which browsers and proxies do not send. */
    command: z.string(),
  }),
  status: 201,
  errors: ['UNAUTHENTICATED', 'PROJECT_NOT_FOUND'],
})

/** The machine proves that it holds the key: `proof` is its signature over `turnback/enroll/v1\n<code>\n<machine>\n<recipient>`. */
export const enrollMachine = defineRoute({
  method: 'POST',
  path: '/v1/machines/enroll',
  summary: 'Enrol a machine with a one-time code',
  access: { kind: 'public' },
  body: z.strictObject({
    code: z.string().min(10).max(100),
    machine: machineIdSchema,
    name: nameSchema,
    /** Ed25519 public key, raw 32 bytes, base64url. */
    publicKey: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
    /** `age1…`: what sealed bytes of this machine are sealed to. */
    recipient: z.string().regex(/^age1[a-z0-9]{40,200}$/),
    proof: z.string().regex(/^[A-Za-z0-9_-]{86}$/),
    version: z.string().max(50),
  }),
  response: z.object({
    machine: machineIdSchema,
    owner: z.object({ id: z.string(), name: z.string(), email: z.string() }),
    /** Where turns go when their folder names no project. */
    defaultProject: z.object({ id: projectIdSchema, name: z.string() }),
  }),
  status: 201,
  errors: ['ENROLLMENT_CODE_INVALID', 'SIGNATURE_INVALID', 'VALIDATION_FAILED', 'RATE_LIMITED'],
})

export const removeMachine = defineRoute({
  method: 'DELETE',
  path: '/v1/machines/{machine}',
  summary: 'Revoke a machine; its link is closed within seconds',
  access: { kind: 'person' },
  params: machineParams,
  response: null,
  status: 204,
  errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'MACHINE_NOT_FOUND'],
})

/** The link's messages for when the link is down. Answers at once when there are some, else after the wait. */
export const listCommands = defineRoute({
  method: 'GET',
  path: '/v1/machines/self/commands',
  summary: 'What this machine is asked to do',
  access: { kind: 'machine' },
  query: z.object({
    waitSeconds: z.coerce.number().int().min(0).max(30).default(0),
    /** Commands of earlier answers that were taken up and need not come again. May be repeated. */
    ack: z.union([commandIdSchema.transform((id) => [id]), z.array(commandIdSchema).max(100)]).default([]),
  }),
  response: z.object({ commands: z.array(serverMessageSchema) }),
  errors: ['UNAUTHENTICATED', 'MACHINE_REVOKED'],
})

/** Repeatable. The name and root are what people see; the id is the machine's own. */
export const putWorkspace = defineRoute({
  method: 'PUT',
  path: '/v1/workspaces/{workspace}',
  summary: 'Make a folder of this machine known before its turns are sent',
  access: { kind: 'machine' },
  params: workspaceParams,
  body: z.strictObject({
    root: z.string().min(1).max(4096),
    name: nameSchema,
    /** A project's name; it is found among the owner's projects, or made. Null: the machine's default. */
    project: nameSchema.nullable(),
  }),
  response: z.object({
    workspace: workspaceIdSchema,
    project: z.object({ id: projectIdSchema, name: z.string() }),
  }),
  errors: ['UNAUTHENTICATED', 'WORKSPACE_NOT_FOUND', 'VALIDATION_FAILED'],
})
