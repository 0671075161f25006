import {
  ABSENT,
  type Change,
  type ChangeRef,
  DomainError,
  equalStates,
  ownerOf,
  type PlanStep,
  type RelPath,
  type RestoreReport,
  type State,
} from '@turnback/core'
import { NEW_FOLDER_MODE } from '#given-modes.ts'
import type { Deps, FolderMode, Lease, StepOutcome, TreeStep, TreeWriter, Workspace } from '#ports.ts'
import { type Wish, wishText } from './ask.ts'
import { type CarriedOut, carryOut, passesThroughNothing } from './carry-out.ts'
import { emptyReport, finishOrTell } from './finish.ts'
import { findJournal, type Journal, orNotRecorded, putJournal } from './journal.ts'

const CHANGED: StepOutcome = { ok: false, why: 'changed' }

export interface Recovered {
  readonly report: RestoreReport
  readonly journal: Journal
}

/**
 * Finishes the restore that a crash cut off, if there is one: what is still in its `from` state is carried out,
 * what is as wanted counts as done, anything else is somebody's and stays.
 * @returns its report and what had been asked for, or null when nothing was unfinished
 */
export async function recoverIfNeeded(
  deps: Deps,
  lease: Lease,
  workspace: Workspace,
): Promise<Recovered | null> {
  const journal = findJournal(deps, workspace)
  if (journal === null) return null
  const report = await orNotRecorded(journal, () =>
    journal.isAborting
      ? rollBack(deps, lease, workspace, journal)
      : rollForward(deps, lease, workspace, journal),
  )
  return { report, journal }
}

/** `turnback recover`. @throws NO_RECOVERY when nothing is unfinished */
export async function recover(
  deps: Deps,
  workspace: Workspace,
  how: 'finish' | 'abort',
): Promise<RestoreReport> {
  return deps.leases.run(workspace, 'restore', async (lease) => {
    const journal = findJournal(deps, workspace)
    if (journal === null) throw new DomainError('NO_RECOVERY')
    if (how === 'abort') putJournal(deps, workspace, { ...journal, isAborting: true })
    const recovered = await recoverIfNeeded(deps, lease, workspace)
    if (recovered === null) throw new DomainError('NO_RECOVERY')
    return recovered.report
  })
}

/** True when the interrupted restore is what is asked for again: then its report is the answer. */
export function isSameWish(a: Wish, b: Wish): boolean {
  return b.target.kind !== 'turn' || wishText(a) === wishText(b)
}

async function rollForward(
  deps: Deps,
  lease: Lease,
  workspace: Workspace,
  journal: Journal,
): Promise<RestoreReport> {
  const writer = deps.writer(workspace, journal.restore)
  writer.settle(journal.plan.steps, openedFolders(journal))
  const later = laterChanges(deps, workspace, journal)
  const steps = journal.plan.steps.map((step) => withLaterChanges(step, later.get(step.path) ?? []))
  const carried = await carryOut(writer, steps, {
    check: () => lease.check(),
    choose: (step) => (isSomebodys(step, later.get(step.path) ?? []) ? CHANGED : resume(writer, step)),
  })
  return finishOrTell(deps, lease, workspace, { ...journal, plan: { ...journal.plan, steps } }, carried, true)
}

/** Goes on with one step from wherever the run that was cut off had left it. */
function resume(writer: TreeWriter, step: PlanStep): TreeStep | StepOutcome {
  if (writer.holds(step.path, step.to)) return { ok: true }
  const between = writer.holds(step.path, step.from) ? null : findBetween(writer, step)
  return between === null ? step : { ...step, from: between }
}

/** A state that the step itself passes through: nothing under the name, or a directory that has no mode yet. */
function findBetween(writer: TreeWriter, step: PlanStep): State | null {
  const present = writer.look(step.path)
  if (present.kind === 'absent') return passesThroughNothing(step) ? ABSENT : null
  const isNewFolder = present.kind === 'dir' && (present.mode & 0o777) === NEW_FOLDER_MODE
  return isNewFolder && step.to.kind === 'dir' && step.from.kind !== 'dir' ? present : null
}

/** Folders that may stand open because a step was cut off: those that were there, and those that were being made. */
function openedFolders({ plan, widened }: Journal): FolderMode[] {
  const made = plan.steps.flatMap(({ path, from, to }) =>
    [from, to].flatMap((state) =>
      state.kind === 'dir' && (state.mode & 0o300) !== 0o300 ? [{ path, mode: state.mode }] : [],
    ),
  )
  return [...widened, ...made]
}

/** What scans recorded since the plan was made: the mixed state, and whatever came after. */
function laterChanges(deps: Deps, workspace: Workspace, { plan, scan }: Journal): Map<RelPath, Change[]> {
  const later = new Map<RelPath, Change[]>()
  const paths = plan.steps.map((step) => step.path)
  for (const change of deps.log.listChanges(workspace.id, paths)) {
    if (change.scan <= scan) continue
    const list = later.get(change.path)
    if (list === undefined) later.set(change.path, [change])
    else list.push(change)
  }
  return later
}

/** A path that a scan saw in any other state than the wanted one, or that a session changed, is not ours any more. */
function isSomebodys(step: PlanStep, later: readonly Change[]): boolean {
  const last = later.at(-1)
  if (last === undefined) return false
  return !equalStates(last.after, step.to) || later.some((change) => ownerOf(change) !== 'person')
}

/** What a scan took for a person's change was this restore's own writing: it goes with what the restore takes off. */
function withLaterChanges(step: PlanStep, later: readonly Change[]): PlanStep {
  if (later.length === 0 || isSomebodys(step, later)) return step
  const mixed: ChangeRef[] = later.map(({ path, turn, scan }) => ({ path, turn, scan }))
  return { ...step, effect: { ...step.effect, popped: [...step.effect.popped, ...mixed] } }
}

/** Gives back what the restore had written, path by path, as long as nobody changed it since. No turn comes of it. */
async function rollBack(
  deps: Deps,
  lease: Lease,
  workspace: Workspace,
  journal: Journal,
): Promise<RestoreReport> {
  const writer = deps.writer(workspace, journal.restore)
  writer.settle(journal.plan.steps, openedFolders(journal))
  const back = journal.plan.steps
    .toReversed()
    .map((step): PlanStep => ({ ...step, from: step.to, to: step.from }))
  const carried = await carryOut(writer, back, {
    check: () => lease.check(),
    choose: (step) => resume(writer, step),
    placeOf: (index) => back.length - 1 - index,
  })
  const report = abortReport(deps, journal, carried)
  deps.log.transact(() => {
    lease.check()
    deps.capture.recordReport(workspace, report)
    // What failed is tried again as long as nobody asks for another restore.
    if (report.failed.length === 0) deps.log.deleteJournal(workspace.id)
  })
  return report
}

function abortReport(deps: Deps, journal: Journal, { outcomes }: CarriedOut): RestoreReport {
  const isWhole = outcomes.failed.length === 0
  return {
    ...emptyReport(deps, { ...journal, irreversible: [...journal.irreversible] }),
    status: isWhole ? 'nothing-to-do' : 'partly-done',
    kept: [...outcomes.kept],
    failed: [...outcomes.failed],
    directories: { restored: [], deleted: [], kept: [...outcomes.keptDirectories] },
    verified: isWhole,
    recovered: true,
  }
}
