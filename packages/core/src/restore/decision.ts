import type { BlobId } from '#blob/blob-id.ts'
import type { Change } from '#history/change.ts'
import type { ChangeRef } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { Digest } from '#text/digest.ts'
import type { SkipReason, State } from '#tree/state.ts'
import type { AlsoUndone, KeptPath } from './report.ts'
import type { StackEffect } from './restore-plan.ts'

/** Bytes, as far as a plan needs them: for merges, hunks and the line-end check. Synchronous. */
export interface PlanContent {
  /** True when the store holds the blob whole. False puts its path on the kept list as `missing-blob`. */
  hasBlob(blob: BlobId): boolean
  /** The blob's bytes if it is small enough to be treated as text, else null. */
  readText(blob: BlobId): Uint8Array | null
  /** The id that bytes made by the plan (a merge) have at this path. A run stores them here; a preview need not. */
  nameText(path: RelPath, bytes: Uint8Array): BlobId
  /** Hex SHA-256, for the ids of hunks. */
  readonly sha256: Digest
}

/** What is to become of one path, seen by itself; parents and directories are looked at afterwards. */
export type Decision = Write | Settle | Keep | Skip

export interface Write {
  readonly act: 'write'
  readonly path: RelPath
  readonly from: State
  readonly to: State
  readonly isMerge: boolean
  readonly effect: StackEffect
  readonly alsoUndoes: readonly AlsoUndone[]
}

/** As wanted already. */
export interface Settle {
  readonly act: 'settle'
  readonly path: RelPath
  readonly from: State
  readonly effect: StackEffect
  readonly alsoUndoes: readonly AlsoUndone[]
}

export interface Keep {
  readonly act: 'keep'
  readonly path: RelPath
  readonly from: State
  /** What the path would have become: says which list it is kept in. */
  readonly wanted: State
  readonly kept: KeptPath
  /** True when someone else's change stands in the way: what `fail` refuses. */
  readonly isConflict: boolean
}

export interface Skip {
  readonly act: 'skip'
  readonly path: RelPath
  readonly from: State
  readonly reason: SkipReason
}

export const NO_EFFECT: StackEffect = { popped: [], putBack: [], pushed: null }

export function refOf(change: Change): ChangeRef {
  return { path: change.path, turn: change.turn, scan: change.scan }
}

export function isSameBlob(a: State, b: State): boolean {
  return a.kind === 'file' && b.kind === 'file' && a.blob === b.blob
}
