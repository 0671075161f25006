import { databaseOf, type PlanStep } from '@turnback/core'
import type { BegunStep, StepOutcome, TreeStep, TreeWriter } from '#ports.ts'

/** A step with its places: in what is carried out, and in the journal's plan. */
export interface Member {
  readonly chosen: TreeStep | StepOutcome
  readonly index: number
  readonly place: number
}

type TakeOutcome = (index: number, outcome: StepOutcome) => void

const CHANGED: StepOutcome = { ok: false, why: 'changed' }

/** How many steps from here on are files of one database, by their names; 0 when this one is alone. */
export function countOfDatabase(steps: readonly PlanStep[], at: number): number {
  const base = databaseAt(steps, at)
  if (base === null) return 0
  let end = at + 1
  while (databaseAt(steps, end) === base) end++
  return end - at > 1 ? end - at : 0
}

function databaseAt(steps: readonly PlanStep[], at: number): string | null {
  const step = steps[at]
  return step === undefined || step.from.kind === 'dir' || step.to.kind === 'dir'
    ? null
    : databaseOf(step.path)
}

/**
 * Carries out the steps of one database: all that is to be written lies durably beside its place before the first of its
 * files is touched. When somebody wrote to one of them meanwhile, or one can not be had, none is touched: each half
 * without the other is a damaged database.
 */
export async function writeDatabase(
  writer: TreeWriter,
  members: readonly Member[],
  take: TakeOutcome,
): Promise<void> {
  const left: Left[] = []
  let fault: StepOutcome | null = null
  for (const { chosen, index, place } of members) {
    if (!('ok' in chosen)) left.push({ step: chosen, index, place, begun: null })
    else take(index, chosen)
    if ('ok' in chosen && !chosen.ok) fault ??= chosen
  }
  for (const each of left) {
    if (fault !== null) break
    const begun = writer.begin(each.step, each.place)
    if (begun !== null && 'ok' in begun) fault = begun
    else each.begun = begun
  }
  await Promise.all(left.map(({ begun }) => begun?.sync()))
  if (left.some(({ step }) => !writer.holds(step.path, step.from))) fault ??= CHANGED
  for (const { step, index, place, begun } of left) {
    if (fault !== null) {
      begun?.giveUp()
      take(index, fault)
      continue
    }
    const outcome = begun === null ? writer.apply(step, place) : begun.finish()
    take(index, outcome)
    if (!outcome.ok) fault = outcome
  }
}

interface Left {
  readonly step: TreeStep
  readonly index: number
  readonly place: number
  begun: BegunStep | null
}
