import { z } from 'zod'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { limits } from '#limits.ts'

export const timeSchema = z.iso.datetime()
export const nameSchema = z.string().trim().min(1).max(100)

/** Query of every list: an opaque place to go on from, and how many. */
export const pageQuerySchema = z.object({
  cursor: z.string().max(500).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(limits.pageItemsDefault),
})

/** Answer of every list. `nextCursor` is null on the last page. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() })
}

export const projectParams = z.object({ project: projectIdSchema })
export const machineParams = z.object({ machine: machineIdSchema })
export const workspaceParams = z.object({ workspace: workspaceIdSchema })
export const turnParams = z.object({ turn: turnIdSchema })
export const restoreParams = z.object({ restore: restoreIdSchema })

/** Problem details of RFC 9457 with our code. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  remedy: z.string().optional(),
  instance: z.string().optional(),
  details: z.record(z.string(), z.unknown()).optional(),
})
export type Problem = z.infer<typeof problemSchema>
