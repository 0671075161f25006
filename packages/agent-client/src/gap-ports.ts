import type { Listing, RemovedTurn, TurnId, WorkspaceId } from '@turnback/core'

/** Why a turn is not sent as it is: retention removed it before it was, so only its place in the chain is known. */
export const PURGED = 'purged'

/** Where a log begins when retention has removed what was before. */
export interface GapRow {
  /** Changes, events and restores up to this scan are gone. */
  readonly scan: number
  /** The last envelope of the chain that is gone. */
  readonly seq: number
  readonly sha256: string | null
}

export interface RemovedTurnRow extends RemovedTurn {
  readonly headAfter: string | null
  readonly branch: string | null
}

/** How a turn before the gap stands, by restores that are gone. */
export interface ListedTurnRow {
  readonly turn: TurnId
  /** The restore that gave it its mark, or null when it has none by a restore that is gone. */
  readonly undoneBy: { readonly restore: TurnId; readonly number: number; readonly isWhole: boolean } | null
}

/** What is left of the part of a log that retention removed. */
export interface GapLog {
  /** What retention removed from the beginning of the log; null when nothing was. */
  findGap(workspace: WorkspaceId): GapRow | null
  /** Turns that retention removed, oldest first. */
  listRemovedTurns(workspace: WorkspaceId): RemovedTurnRow[]
  /** Turns before the gap that stay: pinned ones and checkpoints. What each listed of itself is in {@link findListing}. */
  listListed(workspace: WorkspaceId): ListedTurnRow[]
  findListing(turn: TurnId): Listing | null
  setPinned(turn: TurnId, isPinned: boolean): void
}
