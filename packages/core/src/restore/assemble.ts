import type { TurnId } from '#ids.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { Decision, Keep, Write } from './decision.ts'
import { orderSteps, type UnorderedStep } from './order.ts'
import type { KeptPath } from './report.ts'
import type { PathLoss, RestorePlan, StepList } from './restore-plan.ts'

/** What a plan says beside its paths. */
export interface PlanHead {
  readonly takenBack: TurnId | null
  readonly turns: readonly TurnId[]
  readonly undoes: readonly TurnId[]
  readonly losses: readonly PathLoss[] | null
  readonly paths: readonly RelPath[] | null
  /** Of the disk: see `PlanInput`. */
  readonly ignoresCase: boolean
}

/** Puts decisions that fit together into the form that is shown, signed, journalled and carried out. */
export function assemblePlan(
  request: Pick<RestorePlan, 'target' | 'scope' | 'exact' | 'onConflict'>,
  decisions: readonly Decision[],
  head: PlanHead,
): RestorePlan {
  const sorted = decisions.toSorted((a, b) => compare(a.path, b.path))
  const keeps = sorted.filter((decision) => decision.act === 'keep')
  const conflicts = keeps.filter((decision) => decision.isConflict).map((decision) => decision.kept)
  const isRefused = request.onConflict === 'fail' && conflicts.length > 0
  const writes = isRefused ? [] : sorted.filter((decision) => decision.act === 'write')
  const settles = isRefused ? [] : sorted.filter((decision) => decision.act === 'settle')
  return {
    target: request.target,
    scope: request.scope,
    exact: request.exact,
    onConflict: request.onConflict,
    paths: head.paths,
    takenBack: head.takenBack,
    refusal: isRefused ? 'CONFLICTS' : null,
    steps: orderSteps(writes.map(stepOf), head.ignoresCase),
    settled: settles.map(({ path, effect }) => ({ path, effect })),
    kept: pick(keeps, (keep) => !isDirectoryPath(keep)),
    keptDirectories: pick(keeps, isDirectoryPath),
    skipped: sorted
      .filter((decision) => decision.act === 'skip')
      .map(({ path, reason }) => ({ path, reason })),
    conflicts,
    turns: head.turns,
    undoes: head.undoes,
    ...(head.losses !== null && { losses: head.losses.toSorted((a, b) => compare(a.path, b.path)) }),
    alsoUndoes: [...writes, ...settles]
      .flatMap((decision) => decision.alsoUndoes)
      .sort((a, b) => compare(a.path, b.path)),
    seen: sorted.map(({ path, from }) => ({ path, state: from })),
  }
}

function pick(keeps: readonly Keep[], isWanted: (keep: Keep) => boolean): KeptPath[] {
  return keeps.filter(isWanted).map((keep) => keep.kept)
}

/** Kept paths are listed by the kind that was wanted; one that should have gone, by the kind that it is. */
function isDirectoryPath({ wanted, from }: { wanted: State; from: State }): boolean {
  return wanted.kind === 'dir' || (wanted.kind === 'absent' && from.kind === 'dir')
}

function stepOf({ path, from, to, isMerge, effect }: Write): UnorderedStep {
  return { path, from, to, list: listOf(from, to, isMerge), effect }
}

function listOf(from: State, to: State, isMerge: boolean): StepList {
  switch (to.kind) {
    case 'dir':
      return 'directories.restored'
    case 'absent':
      return from.kind === 'dir' ? 'directories.deleted' : 'deleted'
    case 'file':
    case 'symlink':
    case 'skipped':
      return isMerge ? 'merged' : 'restored'
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
