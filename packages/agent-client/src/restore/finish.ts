import {
  ALL_DONE,
  REPORT_FORMAT,
  type RelPath,
  type RestoreDetail,
  type RestorePlan,
  type RestoreReport,
  type SettledRestore,
  type State,
  type StepOutcomes,
  settleRestore,
  undoneMarks,
} from '@turnback/core'
import type { Deps, Lease, Workspace } from '#ports.ts'
import type { CarriedOut } from './carry-out.ts'
import { listRestoreFacts } from './facts.ts'
import { type Journal, notRecorded } from './journal.ts'

/** The facts of a report that do not follow from its plan. */
export type ReportHead = Pick<RestoreReport, 'restore' | 'requestedBy' | 'startedAt' | 'irreversible'>

export const now = (deps: Deps): string => new Date(deps.clock.nowMs()).toISOString()

function settle(deps: Deps, workspace: Workspace, plan: RestorePlan, outcomes: StepOutcomes): SettledRestore {
  return settleRestore(plan, outcomes, undoneMarks(listRestoreFacts(deps, workspace)))
}

/**
 * Records a restore that has come to its end: the turn that it is, with its report, or, when nothing at all could be
 * done, the report alone. In both cases the journal is gone with it.
 */
export function finish(
  deps: Deps,
  lease: Lease,
  workspace: Workspace,
  journal: Journal,
  carried: CarriedOut,
  isRecovered: boolean,
): RestoreReport {
  const { plan } = journal
  const settled = settle(deps, workspace, plan, carried.outcomes)
  const isNothing = settled.status === 'failed'
  const report: RestoreReport = {
    format: REPORT_FORMAT,
    restore: journal.restore,
    turn: isNothing ? null : journal.turn,
    of: settled.of,
    status: settled.status,
    ...settled.lists,
    irreversible: [...journal.irreversible],
    verified: settled.lists.failed.length === 0,
    recovered: isRecovered,
    requestedBy: journal.requestedBy,
    startedAt: journal.startedAt,
    endedAt: now(deps),
  }
  if (isNothing) {
    deps.log.transact(() => {
      lease.check()
      deps.capture.recordReport(workspace, report)
      deps.log.deleteJournal(workspace.id)
    })
    return report
  }
  deps.capture.recordRestore(lease, workspace, {
    turn: journal.turn,
    detail: detailOf(journal, settled),
    report,
    startedAt: journal.startedAt,
    written: new Map<RelPath, State>(carried.done.map((step) => [step.path, step.to])),
    entries: carried.done.map((step) => ({ path: step.path, before: step.from, after: step.to })),
  })
  return report
}

/**
 * The same; but when the record cannot be made, what was done to the files is told all the same, and that the journal
 * still stands, so that the next restoring command can finish the record.
 */
export function finishOrTell(...args: Parameters<typeof finish>): RestoreReport {
  const [deps, , , journal, carried, isRecovered] = args
  try {
    return finish(...args)
  } catch (error) {
    const trouble = notRecorded(journal, error)
    // Who lost the lease does not know what another one has done since.
    if (trouble === null || trouble.code === 'LEASE_LOST' || carried.done.length === 0) throw error
    const { code, message, details } = trouble
    const { lists } = settleRestore(journal.plan, carried.outcomes, new Map())
    return {
      ...emptyReport(deps, { ...journal, irreversible: [...journal.irreversible] }),
      status: 'partly-done',
      ...lists,
      verified: lists.failed.length === 0,
      recovered: isRecovered,
      error: { code, message, details },
    }
  }
}

function detailOf({ restore, plan }: Journal, settled: SettledRestore): RestoreDetail {
  return {
    id: restore,
    of: settled.of,
    scope: plan.scope,
    exact: plan.exact,
    paths: plan.paths === null ? null : [...plan.paths],
    target: plan.target,
    takenBack: plan.takenBack,
    status: settled.status,
    scan: 0,
    ...settled.stack,
  }
}

/** The report of a plan that was not carried out: refused, or only asked about. */
export function reportWithoutRun(
  deps: Deps,
  workspace: Workspace,
  plan: RestorePlan,
  head: ReportHead,
  error: RestoreReport['error'] | null,
): RestoreReport {
  const settled = settle(deps, workspace, plan, ALL_DONE)
  const isRefused = error !== null
  const base = emptyReport(deps, head)
  if (isRefused)
    return {
      ...base,
      status: 'refused',
      kept: [...plan.kept],
      skipped: [...plan.skipped],
      ...(error && { error }),
    }
  return { ...base, of: settled.of, status: settled.status, ...settled.lists, dryRun: true }
}

/** A report in which nothing happened. */
export function emptyReport(deps: Deps, head: ReportHead): RestoreReport {
  return {
    format: REPORT_FORMAT,
    restore: head.restore,
    turn: null,
    of: [],
    status: 'nothing-to-do',
    restored: [],
    deleted: [],
    merged: [],
    kept: [],
    failed: [],
    skipped: [],
    directories: { restored: [], deleted: [], kept: [] },
    alsoUndone: [],
    unchanged: 0,
    irreversible: head.irreversible,
    verified: false,
    recovered: false,
    requestedBy: head.requestedBy,
    startedAt: head.startedAt,
    endedAt: now(deps),
  }
}
