import { z } from 'zod'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema } from '#ids.ts'

/** What a browser says on `/v1/live`. */
export const liveRequestSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('subscribe'), project: projectIdSchema }),
  z.strictObject({ type: z.literal('unsubscribe'), project: projectIdSchema }),
  z.strictObject({ type: z.literal('pong') }),
])
export type LiveRequest = z.infer<typeof liveRequestSchema>

/** News: what to read again. Never the data itself, so a lost message costs time only. */
export const liveNewsSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('subscribed'), project: projectIdSchema }),
  z.strictObject({ type: z.literal('turn'), project: projectIdSchema, turn: turnIdSchema }),
  z.strictObject({ type: z.literal('restore'), project: projectIdSchema, restore: restoreIdSchema }),
  z.strictObject({ type: z.literal('machine'), project: projectIdSchema, machine: machineIdSchema }),
  z.strictObject({ type: z.literal('ping') }),
])
export type LiveNews = z.infer<typeof liveNewsSchema>
