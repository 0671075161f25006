import type { ConflictChoice } from '#command/messages.ts'
import type { TurnId } from '#ids.ts'
import type { ChangeRef, Scope } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { SkipReason, State } from '#tree/state.ts'
import type { AlsoUndone, KeptPath } from './report.ts'

/**
 * When a step is carried out. `room`: removals that a later creation needs, children first. `create`:
 * everything that is to exist, parents first, and logs of databases that go just before these are written. `delete`: other files and links. `rmdir`: directories, children
 * first. `modes`: directories that lose the owner's right to write, last and children first.
 */
export type StepPhase = 'room' | 'create' | 'delete' | 'rmdir' | 'modes'

/** The report's list that a step's path goes into when the step succeeds. */
export type StepList = 'restored' | 'deleted' | 'merged' | 'directories.restored' | 'directories.deleted'

/** What a restore does to a path's stack when it has come to its wanted state. */
export interface StackEffect {
  readonly popped: readonly ChangeRef[]
  /** Only when a restore is taken back. */
  readonly putBack: readonly ChangeRef[]
  readonly pushed: { readonly before: State; readonly after: State } | null
}

/**
 * One path's way from the state that was seen to the wanted one. The two states say what to do: `to` absent
 * removes, `from` absent creates, equal kinds (and blobs) with other modes are a chmod, and a change of kind
 * takes the old thing away first (a directory is empty by then). A step whose path is no longer `from` when
 * its turn comes must not be carried out.
 */
export interface PlanStep {
  readonly path: RelPath
  readonly from: State
  readonly to: State
  readonly phase: StepPhase
  readonly list: StepList
  readonly effect: StackEffect
}

/** A path that is as wanted already: nothing to write, but its stack may change. */
export interface SettledPath {
  readonly path: RelPath
  readonly effect: StackEffect
}

/** What turns lose with a path; one that is shared is lost by each of them. */
export interface PathLoss {
  readonly path: RelPath
  readonly turns: readonly TurnId[]
}

/** Those of the turns that lose something. */
export function turnsThatLose(turns: readonly TurnId[], losses: readonly PathLoss[]): TurnId[] {
  const losing = new Set(losses.flatMap((loss) => loss.turns))
  return turns.filter((turn) => losing.has(turn))
}

/** Plain data: survives JSON, so that it can be journalled, signed and shown. */
export interface RestorePlan {
  readonly target: TurnId
  readonly scope: Scope
  readonly exact: boolean
  readonly onConflict: ConflictChoice
  /** The paths that the plan is limited to (named, of named hunks, or of a checkpoint), or null for all. */
  readonly paths: readonly RelPath[] | null
  /** The restore that this one takes back, or null. */
  readonly takenBack: TurnId | null
  /** Set when `onConflict` is `fail` and there is a conflict: then there is nothing to carry out. */
  readonly refusal: 'CONFLICTS' | null
  /** In the order in which they are carried out. */
  readonly steps: readonly PlanStep[]
  /** Counted as `unchanged` in preview and report. */
  readonly settled: readonly SettledPath[]
  readonly kept: readonly KeptPath[]
  readonly keptDirectories: readonly KeptPath[]
  readonly skipped: readonly { readonly path: RelPath; readonly reason: SkipReason }[]
  /** Kept because someone else's change stands in the way, files and directories. A part of the two above. */
  readonly conflicts: readonly KeptPath[]
  /** The scope's turns; empty when a restore is taken back. */
  readonly turns: readonly TurnId[]
  /** Those of `turns` whose mark is raised when this ends `done`: `restore.of` then. */
  readonly undoes: readonly TurnId[]
  /** By which of its paths, sorted, they are. Absent when the plan is not limited to paths, and in older journals. */
  readonly losses?: readonly PathLoss[]
  /** Changes outside the scope that are undone with it. */
  readonly alsoUndoes: readonly AlsoUndone[]
  /** Every path of the plan as it was seen, sorted by path. The token is bound to it. */
  readonly seen: readonly { readonly path: RelPath; readonly state: State }[]
}
