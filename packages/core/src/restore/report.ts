import { z } from 'zod'
import { restoreIdSchema, turnIdSchema } from '#ids.ts'
import { restoreStatusSchema } from '#manifest/manifest.ts'
import { relPathSchema, seenPathSchema } from '#path/rel-path.ts'
import { skipReasonSchema } from '#tree/state.ts'

export const REPORT_FORMAT = 'turnback.restore/1'

/** Why a restore left a path as it was. A closed list: docs/format.md explains each. */
export const keptReasonSchema = z.enum([
  'changed-after-turn',
  'line-endings-only',
  'type-changed',
  'owned-by-other-session',
  'interleaved-with-other-session',
  'shared',
  'unknown-writer',
  'not-captured',
  'missing-blob',
  'blocked-by-parent',
  'outside-workspace',
  'directory-not-empty',
  'attributes',
])
export type KeptReason = z.infer<typeof keptReasonSchema>

export const keptPathSchema = z.strictObject({
  path: seenPathSchema,
  reason: keptReasonSchema,
  /** The turn whose change stands in the way. */
  turn: turnIdSchema.optional(),
  session: z.string().optional(),
})
export type KeptPath = z.infer<typeof keptPathSchema>

export const failedPathSchema = z.strictObject({ path: relPathSchema, code: z.string(), reason: z.string() })
export type FailedPath = z.infer<typeof failedPathSchema>

/** What a file that was written anew could not keep of the one that it took the place of. */
export const lostTraitSchema = z.strictObject({
  path: relPathSchema,
  /** `hard-link`: it had other names, which still lead to the old bytes. `owner`: it belongs to who restored it now. */
  what: z.enum(['hard-link', 'owner']),
})
export type LostTrait = z.infer<typeof lostTraitSchema>

export const alsoUndoneSchema = z.strictObject({ path: seenPathSchema, turn: turnIdSchema })
export type AlsoUndone = z.infer<typeof alsoUndoneSchema>

export const skippedInRestoreSchema = z.strictObject({ path: seenPathSchema, reason: skipReasonSchema })

/**
 * What a restore did, path by path. Lists are of files and links; directories have their own. Every path of
 * the plan stands in exactly one list, or is counted in `unchanged`.
 */
export const restoreReportSchema = z.strictObject({
  format: z.literal(REPORT_FORMAT),
  restore: restoreIdSchema,
  /** The turn that this restore is; restoring it takes the restore back. Null when nothing was made. */
  turn: turnIdSchema.nullable(),
  of: z.array(turnIdSchema),
  status: restoreStatusSchema,
  restored: z.array(relPathSchema),
  deleted: z.array(relPathSchema),
  merged: z.array(relPathSchema),
  kept: z.array(keptPathSchema),
  failed: z.array(failedPathSchema),
  skipped: z.array(skippedInRestoreSchema),
  directories: z.strictObject({
    restored: z.array(relPathSchema),
    deleted: z.array(relPathSchema),
    kept: z.array(relPathSchema),
  }),
  alsoUndone: z.array(alsoUndoneSchema),
  unchanged: z.int().min(0),
  irreversible: z.array(z.string()),
  /** Of paths that are listed above as done. Not there when nothing was lost. */
  lost: z.array(lostTraitSchema).optional(),
  /** True only when every target was read back after the last write and was as wanted. */
  verified: z.boolean(),
  /** True when this report finishes a restore that a crash had cut off. */
  recovered: z.boolean(),
  /** What stood in the way, when `status` is `refused` or `failed`; with `partly-done`, why it is not recorded yet. */
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      /** For a stale token the changed paths, for a moved HEAD the two commits, and the like. */
      details: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  /** True when the restore was only asked about: the lists say what would be, and nothing was done. */
  dryRun: z.boolean().optional(),
  requestedBy: z.strictObject({ kind: z.enum(['local', 'user', 'token']), name: z.string() }),
  startedAt: z.iso.datetime(),
  endedAt: z.iso.datetime(),
})
export type RestoreReport = z.infer<typeof restoreReportSchema>

/** What a restore would do. The answer of `preview`, and the body of a machine's signed plan. */
export const previewSchema = z.strictObject({
  /** Bound to the plan and to the bytes, modes and HEAD it was made from (contract rule 9). */
  token: z.string().max(128),
  restore: z.array(relPathSchema),
  delete: z.array(relPathSchema),
  merge: z.array(relPathSchema),
  conflicts: z.array(keptPathSchema),
  skipped: z.array(skippedInRestoreSchema),
  unchanged: z.int().min(0),
  undoes: z.array(turnIdSchema),
  alsoUndoes: z.array(alsoUndoneSchema),
  irreversible: z.array(z.string()),
  head: z.strictObject({ then: z.string().nullable(), now: z.string().nullable() }),
  /** Paths of the plan that a second look is due for: hooks, CI files, agent settings, lock files, executables. */
  sensitive: z.array(relPathSchema),
  /** Paths whose bytes leave the machine only sealed. */
  sealed: z.array(relPathSchema),
})
export type Preview = z.infer<typeof previewSchema>
