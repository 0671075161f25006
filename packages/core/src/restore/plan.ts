import type { BlobId } from '#blob/blob-id.ts'
import type { ConflictChoice } from '#command/messages.ts'
import type { Change, RestoreEvent } from '#history/change.ts'
import type { RestoreFacts, TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import type { Scope } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { Digest } from '#text/digest.ts'
import type { Tree } from '#tree/tree.ts'
import type { RestorePlan } from './restore-plan.ts'

/** Bytes, as far as a plan needs them: for merges, hunks and the line-end check. Synchronous, without effects that matter. */
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

export interface PlanOptions {
  readonly target: TurnId
  readonly scope: Scope
  readonly exact: boolean
  readonly onConflict: ConflictChoice
  /** Null for all paths. A folder means all below it. */
  readonly paths: readonly RelPath[] | null
  /** Null for whole files. Else only these hunks of the target's own change are reverted. */
  readonly hunks: readonly { readonly path: RelPath; readonly id: string }[] | null
}

export interface PlanInput {
  readonly request: PlanOptions
  /** Every change of the workspace up to and with the capture that the restore began with. */
  readonly changes: readonly Change[]
  readonly events: readonly RestoreEvent[]
  readonly turns: readonly TurnFacts[]
  readonly restores: readonly RestoreFacts[]
  /** The tree as that capture saw it. */
  readonly tree: Tree
  readonly content: PlanContent
}

/**
 * Plans a restore of a turn, a checkpoint or (taking it back) a restore: contract rules 4 to 8.
 * @throws DomainError TURN_NOT_FOUND, NOT_RESTORABLE
 */
export declare function planRestore(input: PlanInput): RestorePlan
