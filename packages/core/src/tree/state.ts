import { z } from 'zod'
import { blobIdSchema } from '#blob/blob-id.ts'
import { limits } from '#limits.ts'

/** Why a path's bytes were not captured. A closed list: docs/format.md explains each. */
export const skipReasonSchema = z.enum([
  'too-large',
  'excluded-directory',
  'unreadable',
  'changed-while-reading',
  'special-file',
  'nested-git-dir',
  'nested-workspace',
  'budget',
  'unsafe-live',
])
export type SkipReason = z.infer<typeof skipReasonSchema>

const sizeBytesSchema = z.int().min(0)
/** Permission bits with set-id and sticky bits: `st_mode & 0o7777`. */
const modeSchema = z.int().min(0).max(0o7777)

export const fileStateSchema = z.strictObject({
  kind: z.literal('file'),
  blob: blobIdSchema,
  sizeBytes: sizeBytesSchema,
  mode: modeSchema,
})
export const symlinkStateSchema = z.strictObject({
  kind: z.literal('symlink'),
  /** The link's text, written as names are (`b64:` when it is not UTF-8). */
  target: z.string().max(limits.symlinkTargetBytes),
})
export const dirStateSchema = z.strictObject({ kind: z.literal('dir'), mode: modeSchema })
export const absentStateSchema = z.strictObject({ kind: z.literal('absent') })
export const skippedStateSchema = z.strictObject({
  kind: z.literal('skipped'),
  reason: skipReasonSchema,
  sizeBytes: sizeBytesSchema.optional(),
})

/**
 * What a path was at one moment. `absent` is a fact that was seen; `skipped` says that the path exists
 * and its bytes are not known. A path that no scan saw has no state at all. The three are never mixed up.
 */
export const stateSchema = z.discriminatedUnion('kind', [
  fileStateSchema,
  symlinkStateSchema,
  dirStateSchema,
  absentStateSchema,
  skippedStateSchema,
])

export type FileState = z.infer<typeof fileStateSchema>
export type SymlinkState = z.infer<typeof symlinkStateSchema>
export type DirState = z.infer<typeof dirStateSchema>
export type AbsentState = z.infer<typeof absentStateSchema>
export type SkippedState = z.infer<typeof skippedStateSchema>
export type State = z.infer<typeof stateSchema>

export const ABSENT: AbsentState = Object.freeze({ kind: 'absent' })

/** True when both states are known and a restore from one to the other would have nothing to do. */
export function equalStates(a: State, b: State): boolean {
  switch (a.kind) {
    case 'file':
      return b.kind === 'file' && a.blob === b.blob && a.mode === b.mode
    case 'symlink':
      return b.kind === 'symlink' && a.target === b.target
    case 'dir':
      return b.kind === 'dir' && a.mode === b.mode
    case 'absent':
      return b.kind === 'absent'
    case 'skipped':
      return false
  }
}

/**
 * True when a scan that saw `b` after `a` has nothing to record. Unlike {@link equalStates} a path that
 * stays skipped for the same reason counts as unchanged: its bytes may differ, which nobody can know.
 */
export function nothingToRecord(a: State, b: State): boolean {
  if (a.kind === 'skipped' && b.kind === 'skipped') return a.reason === b.reason
  return equalStates(a, b)
}
