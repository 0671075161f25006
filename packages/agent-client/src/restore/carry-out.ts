import {
  type FailedPath,
  isOtherKind,
  type KeptPath,
  type KeptReason,
  type LostTrait,
  NOT_DURABLE,
  type PlanStep,
  parentOf,
  type RelPath,
  type State,
  type StepOutcomes,
} from '@turnback/core'
import { GIVEN_BACK } from '#given-modes.ts'
import type { Present, StepOutcome, TreeWriter } from '#ports.ts'
import type { FolderFault } from '#write-ports.ts'
import { Pace } from './pace.ts'
import { type HowToWrite, writeSteps } from './write-steps.ts'

/** What came of all steps, and which of them ended as wanted. */
export interface CarriedOut {
  readonly done: readonly PlanStep[]
  readonly outcomes: StepOutcomes
}

interface Tally {
  readonly done: PlanStep[]
  readonly failed: FailedPath[]
  readonly kept: KeptPath[]
  readonly keptDirectories: RelPath[]
  readonly lost: LostTrait[]
}

/**
 * Carries all steps out in their order, makes them durable, and then reads every target back: only what reads as
 * wanted counts as done. Trouble with one path is a line of the report and keeps none of the others back.
 */
export async function carryOut(
  writer: TreeWriter,
  steps: readonly PlanStep[],
  how: HowToWrite = {},
): Promise<CarriedOut> {
  try {
    return await carryThrough(writer, steps, how)
  } finally {
    writer.close()
  }
}

async function carryThrough(
  writer: TreeWriter,
  steps: readonly PlanStep[],
  how: HowToWrite,
): Promise<CarriedOut> {
  const tally: Tally = { done: [], failed: [], kept: [], keptDirectories: [], lost: [] }
  const done = new Set<number>()
  await writeSteps(writer, steps, how, (index, outcome) => {
    const step = steps[index]
    if (step === undefined) return
    if (outcome.ok) {
      done.add(index)
      for (const what of outcome.lost ?? []) tally.lost.push({ path: step.path, what })
      // What broke off after the deed, as in closing what was only read, does not undo it: it is read back like others.
    } else if (isOfTheSystem(outcome) && writer.holds(step.path, step.to)) done.add(index)
    else note(writer, tally, step, outcome)
  })
  const written = steps.filter((_, index) => done.has(index))
  const folders = written.flatMap(({ path, to }) =>
    to.kind === 'dir' ? [parentOf(path), path] : [parentOf(path)],
  )
  const faults = await writer.sync(
    folders,
    written.filter(isOfModeAlone).map(({ path }) => path),
  )
  const faultOf = new Map(faults.map((fault) => [fault.path, fault]))
  const pace = new Pace()
  for (const step of written) {
    await pace.breathe()
    const fault = faultOf.get(step.path) ?? faultOf.get(parentOf(step.path))
    if (!isReadBack(writer, tally, step)) continue
    if (fault === undefined) tally.done.push(step)
    else tally.failed.push(notDurable(step.path, fault))
  }
  const { done: verified, ...outcomes } = tally
  return { done: verified, outcomes }
}

/** All other files were made durable before they got their names. */
function isOfModeAlone({ from, to }: PlanStep): boolean {
  return from.kind === 'file' && to.kind === 'file' && from.blob === to.blob
}

/** Not one of our own refusals. */
function isOfTheSystem(outcome: StepOutcome): boolean {
  return !outcome.ok && outcome.why === 'error' && outcome.code !== 'OUTSIDE_ROOT'
}

function notDurable(path: RelPath, { code, reason }: FolderFault): FailedPath {
  const why = code === 'EIO' ? 'the disk did not write' : reason
  return {
    path,
    code: NOT_DURABLE,
    reason: `it is as wanted, but may not be after a loss of power: ${why} (${code})`,
  }
}

function isReadBack(writer: TreeWriter, tally: Tally, step: PlanStep): boolean {
  if (writer.holds(step.path, step.to)) return true
  tally.failed.push({
    path: step.path,
    code: 'NOT_AS_WRITTEN',
    reason:
      'it was written, but did not read back as wanted: it could not be read, or something else changed it at once',
  })
  return false
}

function note(
  writer: TreeWriter,
  tally: Tally,
  step: PlanStep,
  outcome: Exclude<StepOutcome, { ok: true }>,
): void {
  const { path } = step
  if (outcome.why === 'error') {
    tally.failed.push({ path, code: outcome.code, reason: outcome.reason })
    return
  }
  if (isDirectoryStep(step)) tally.keptDirectories.push(path)
  else tally.kept.push({ path, reason: reasonFor(writer, step, outcome) })
}

function isDirectoryStep(step: PlanStep): boolean {
  return step.list === 'directories.restored' || step.list === 'directories.deleted'
}

function reasonFor(
  writer: TreeWriter,
  step: PlanStep,
  outcome: Exclude<StepOutcome, { ok: true } | { why: 'error' }>,
): KeptReason {
  switch (outcome.why) {
    case 'changed':
      return isOfOtherKind(writer.look(step.path), step) ? 'type-changed' : 'changed-after-turn'
    case 'not-empty':
      return 'directory-not-empty'
    case 'missing-blob':
      return 'missing-blob'
    case 'blocked':
      return outcome.by === 'link' ? 'outside-workspace' : 'blocked-by-parent'
  }
}

function isOfOtherKind({ kind }: Present, { from, to }: PlanStep): boolean {
  return kind === 'other' || isOtherKind(from, { kind }, to)
}

/** True when a step has a moment at which there is nothing under its name. */
export function passesThroughNothing({ from, to }: { readonly from: State; readonly to: State }): boolean {
  return (
    from.kind !== to.kind &&
    from.kind !== 'absent' &&
    to.kind !== 'absent' &&
    (from.kind === 'dir' || to.kind === 'dir')
  )
}

/**
 * Set-id bits that are not given back. What is written instead is a state of its own, so it is pushed as one.
 */
export function withoutSetId(step: PlanStep): PlanStep {
  if (step.to.kind !== 'file' && step.to.kind !== 'dir') return step
  const mode = step.to.mode & GIVEN_BACK[step.to.kind]
  if (mode === step.to.mode) return step
  const to = { ...step.to, mode }
  const before = step.effect.pushed?.before ?? step.to
  return { ...step, to, effect: { ...step.effect, pushed: { before, after: to } } }
}
