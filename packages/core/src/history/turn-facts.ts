import type { TurnId } from '#ids.ts'
import type { RestoreStatus, TurnKind } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'

/** What the rules of history need to know of a turn. Open turns count too. */
export interface TurnFacts {
  readonly turn: TurnId
  /** Place in the workspace's list of turns, from `begin`. */
  readonly number: number
  readonly kind: TurnKind
  readonly session: string | null
  /** The scan that its `begin` made; for a checkpoint the scan that it is. Later changes have larger numbers. */
  readonly beginScan: number
  /** True when it changed any path, directories included. */
  readonly hasChanges: boolean
  /** Of a checkpoint: the paths it names, or null for the whole tree. Null for other kinds. */
  readonly paths: readonly RelPath[] | null
}

/** What the rules of history need to know of a finished restore. */
export interface RestoreFacts {
  /** The turn that the restore is. */
  readonly turn: TurnId
  readonly number: number
  /** The turn that was asked for. */
  readonly target: TurnId
  /** The restore's turn that this one took back, or null. */
  readonly takenBack: TurnId | null
  /** The turns that it newly marked as undone. */
  readonly of: readonly TurnId[]
  /** True when no path and no hunk was named. */
  readonly isWhole: boolean
  readonly status: RestoreStatus
}

/** True for turns that somebody asked an agent or a task for: what undo and the scopes speak of. */
export function isWork(kind: TurnKind): boolean {
  return kind === 'agent' || kind === 'task'
}
