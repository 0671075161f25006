import type { UndoneMark } from '#history/marks.ts'
import { newlyMarked } from '#history/marks.ts'
import type { TurnId } from '#ids.ts'
import type { ChangeRef, RestoreDetail, RestoreStatus } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { FailedPath, KeptPath, LostTrait, RestoreReport } from './report.ts'
import { type PlanStep, type RestorePlan, type StackEffect, turnsThatLose } from './restore-plan.ts'

/** What became of a plan's steps. A step that is in none of the lists was carried out and verified. */
export interface StepOutcomes {
  readonly failed: readonly FailedPath[]
  /** Paths that were no longer as seen when their turn came, or that could not be written safely. */
  readonly kept: readonly KeptPath[]
  /** Directories that turned out to hold something when they were to be removed. */
  readonly keptDirectories: readonly RelPath[]
  /** What steps that were carried out could not keep of what was there. */
  readonly lost: readonly LostTrait[]
}

/** Of a path that stands as wanted, while the disk did not say that it will after a loss of power. */
export const NOT_DURABLE = 'NOT_DURABLE'

export const ALL_DONE: StepOutcomes = { failed: [], kept: [], keptDirectories: [], lost: [] }

/** The parts of a restore's manifest and report that follow from the plan and from what became of it. */
export interface SettledRestore {
  readonly status: RestoreStatus
  readonly of: TurnId[]
  readonly stack: Pick<RestoreDetail, 'popped' | 'putBack' | 'pushed'>
  readonly lists: Pick<
    RestoreReport,
    | 'restored'
    | 'deleted'
    | 'merged'
    | 'kept'
    | 'failed'
    | 'skipped'
    | 'directories'
    | 'alsoUndone'
    | 'unchanged'
    | 'lost'
  >
}

/**
 * Sums a restore up. Only paths that came to their wanted state have an effect on the stacks.
 * @param marks the marks before this restore
 */
export function settleRestore(
  plan: RestorePlan,
  outcomes: StepOutcomes,
  marks: ReadonlyMap<TurnId, UndoneMark>,
): SettledRestore {
  const undone = new Set<RelPath>([
    ...outcomes.failed.map((item) => item.path),
    ...outcomes.kept.map((item) => item.path),
    ...outcomes.keptDirectories,
  ])
  const done = plan.steps.filter((step) => !undone.has(step.path))
  const stack = sumEffects([...plan.settled, ...done])
  const moved = stack.popped.length + stack.putBack.length + stack.pushed.length
  const unsure = outcomes.failed.filter(({ code }) => code === NOT_DURABLE).length
  const status = statusOf(plan, outcomes, done.length + unsure + moved, moved)
  const named = (list: PlanStep['list']): RelPath[] =>
    done
      .filter((step) => step.list === list)
      .map((step) => step.path)
      .sort()
  const lost = outcomes.lost.filter((item) => !undone.has(item.path)).sort(byPath)
  return {
    status,
    of: newlyMarked(turnsCovered(plan, undone), marks, plan.paths === null, status),
    stack,
    lists: {
      restored: named('restored'),
      deleted: named('deleted'),
      merged: named('merged'),
      kept: [...plan.kept, ...outcomes.kept].sort(byPath),
      failed: [...outcomes.failed].sort(byPath),
      skipped: [...plan.skipped].sort(byPath),
      directories: {
        restored: named('directories.restored'),
        deleted: named('directories.deleted'),
        kept: [...plan.keptDirectories.map((item) => item.path), ...outcomes.keptDirectories].sort(),
      },
      alsoUndone: plan.alsoUndoes.filter((item) => !undone.has(item.path)),
      unchanged: plan.settled.length,
      ...(lost.length === 0 ? {} : { lost }),
    },
  }
}

/**
 * The turns that a restore speaks of in the end: all of its scope when it is limited to no paths, else those that
 * something was taken of. A turn all of whose paths failed lost nothing.
 */
function turnsCovered(plan: RestorePlan, undone: ReadonlySet<RelPath>): readonly TurnId[] {
  if (plan.paths === null) return plan.turns
  if (plan.losses === undefined) return plan.undoes
  return turnsThatLose(
    plan.undoes,
    plan.losses.filter(({ path }) => !undone.has(path)),
  )
}

function statusOf(plan: RestorePlan, outcomes: StepOutcomes, acted: number, moved: number): RestoreStatus {
  if (plan.refusal !== null) return 'refused'
  if (outcomes.failed.length > 0) return acted > 0 ? 'partly-done' : 'failed'
  return moved > 0 ? 'done' : 'nothing-to-do'
}

function sumEffects(
  items: readonly { readonly path: RelPath; readonly effect: StackEffect }[],
): SettledRestore['stack'] {
  const popped: ChangeRef[] = []
  const putBack: ChangeRef[] = []
  const pushed: RestoreDetail['pushed'] = []
  for (const { path, effect } of items) {
    popped.push(...effect.popped)
    putBack.push(...effect.putBack)
    if (effect.pushed !== null) pushed.push({ path, ...effect.pushed })
  }
  return { popped, putBack, pushed }
}

function byPath(a: { readonly path: RelPath }, b: { readonly path: RelPath }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}
