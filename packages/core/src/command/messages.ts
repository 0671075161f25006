import { z } from 'zod'
import { commandIdSchema, machineIdSchema, restoreIdSchema, turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { limits } from '#limits.ts'
import { scopeSchema } from '#manifest/manifest.ts'
import { relPathSchema } from '#path/rel-path.ts'

export const conflictChoiceSchema = z.enum(['keep', 'save', 'merge', 'fail'])
export type ConflictChoice = z.infer<typeof conflictChoiceSchema>

/** What is asked of a restore, whoever asks: the terminal, the browser, a program. */
export const restoreRequestSchema = z.strictObject({
  workspace: workspaceIdSchema,
  turn: turnIdSchema,
  scope: scopeSchema.default('from-turn'),
  paths: z.array(relPathSchema).max(1000).optional(),
  hunks: z
    .array(z.strictObject({ path: relPathSchema, id: z.string().regex(/^[0-9a-f]{8}$/) }))
    .max(1000)
    .optional(),
  exact: z.boolean().default(false),
  onConflict: conflictChoiceSchema.default('keep'),
  mode: z.enum(['preview', 'run']),
  allowHeadChange: z.boolean().default(false),
})
export type RestoreRequest = z.infer<typeof restoreRequestSchema>

/** By whose word a machine is to write. The machine judges it by its own policy (docs/threat-model.md). */
export const authoriserSchema = z.strictObject({
  kind: z.enum(['user', 'token']),
  name: z.string().max(200),
  /** Whether this person enrolled the machine. */
  isOwner: z.boolean(),
  /** When the person last signed in; null for a token. */
  signedInAt: z.iso.datetime().nullable(),
})
export type Authoriser = z.infer<typeof authoriserSchema>

const planRequestSchema = z.strictObject({
  type: z.literal('plan.request'),
  id: commandIdSchema,
  restore: restoreIdSchema,
  request: restoreRequestSchema,
  requestedBy: authoriserSchema,
  requestedAt: z.iso.datetime(),
})
const restoreCommitSchema = z.strictObject({
  type: z.literal('restore.commit'),
  id: commandIdSchema,
  restore: restoreIdSchema,
  token: z.string().max(128),
  authorisedBy: authoriserSchema,
})

/**
 * Everything a server can say to a machine. Closed: no message runs, writes, configures, updates or deletes
 * anything else, and a machine that hears another verb closes the link.
 */
export const serverMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('hello'), serverTime: z.iso.datetime() }),
  planRequestSchema,
  z.strictObject({
    type: z.literal('checkpoint.request'),
    id: commandIdSchema,
    workspace: workspaceIdSchema,
    label: z.string().max(limits.labelCharacters).nullable(),
    task: z.string().max(limits.labelCharacters).nullable(),
  }),
  restoreCommitSchema,
  z.strictObject({ type: z.literal('restore.cancel'), id: commandIdSchema, restore: restoreIdSchema }),
  z.strictObject({ type: z.literal('roster.update'), id: commandIdSchema }),
  z.strictObject({ type: z.literal('ping') }),
])
export type ServerMessage = z.infer<typeof serverMessageSchema>
export type PlanRequest = z.infer<typeof planRequestSchema>
export type RestoreCommit = z.infer<typeof restoreCommitSchema>

export const remotePolicySchema = z.enum(['off', 'ask', 'owner', 'owner-passkey'])
export type RemotePolicy = z.infer<typeof remotePolicySchema>

/** What a machine says on the link. Results travel by REST; this is presence and receipts only. */
export const machineMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    machine: machineIdSchema,
    version: z.string().max(50),
    policy: z.strictObject({ remote: remotePolicySchema }),
  }),
  z.strictObject({ type: z.literal('pong') }),
  /** The command was taken up and need not be sent again. */
  z.strictObject({ type: z.literal('ack'), id: commandIdSchema }),
])
export type MachineMessage = z.infer<typeof machineMessageSchema>
