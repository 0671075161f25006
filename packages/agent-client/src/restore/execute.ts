import {
  DomainError,
  type ErrorCode,
  errorCatalogue,
  limits,
  makeId,
  type RestoreReport,
  type TurnId,
} from '@turnback/core'
import type { Deps, Lease, Workspace } from '#ports.ts'
import { findAnyFault } from '#unusable.ts'
import type { RestoreAsk } from './ask.ts'
import { carryOut, withoutSetId } from './carry-out.ts'
import { emptyReport, finishOrTell, now, type ReportHead, reportWithoutRun } from './finish.ts'
import { listIrreversible } from './irreversible.ts'
import { type Journal, orNotRecorded, putJournal } from './journal.ts'
import { getKeptPlan } from './kept-plan.ts'
import {
  findStaleness,
  findTarget,
  type KeptPlan,
  makePlan,
  type Planned,
  recordPresent,
  type Sight,
} from './planned.ts'
import { waitForQuiet } from './quiet.ts'
import { isSameWish, type Recovered, recoverIfNeeded } from './recover.ts'

/**
 * Restores: records the present, plans, and carries the plan out. One at a time per workspace. Trouble with single
 * paths is in the report; what stops the whole is thrown as long as there is no plan, and a refused report after.
 * @param warn takes what a person should hear that is no part of the report
 * @throws BUSY, RESTORE_RUNNING, TURN_NOT_FOUND, NOT_RESTORABLE, PLAN_UNKNOWN, STORE_FULL
 */
export async function executeRestore(
  deps: Deps,
  ask: RestoreAsk,
  warn: (text: string) => void = () => {},
): Promise<RestoreReport> {
  const onWait = (turn: TurnId): void => warn(waitingInWords(deps, turn))
  if (!ask.closeOpen && !ask.dryRun) await waitForQuiet(deps, ask.workspace, ask.callerPid ?? null, onWait)
  const report = await deps.leases.run(ask.workspace, 'restore', async (lease) => {
    const recovered = ask.dryRun ? null : await recoverIfNeeded(deps, lease, ask.workspace)
    // One that can not be rolled back whole must not stand in the way for ever.
    const isStuck = recovered?.journal.isAborting === true && recovered.report.failed.length > 0
    if (recovered !== null && !isStuck && isSameWish(recovered.journal.wish, ask)) return recovered.report
    // It could not be recorded, so it is not finished still: nothing else may begin.
    if (recovered?.report.error !== undefined) return recovered.report
    if (recovered !== null) warn(recoveredInWords(recovered, isStuck))
    const kept = ask.token === null ? null : getKeptPlan(deps, ask, ask.token)
    if (!ask.dryRun) await deps.capture.closeOpenTurns(lease, ask.workspace)
    const sight = await recordPresent(deps, lease, ask.workspace)
    return restoreFrom(deps, lease, ask, { sight, kept, warn })
  })
  if (!ask.dryRun) await signTheRest(deps, ask.workspace, warn)
  return report
}

function recoveredInWords({ report, journal }: Recovered, isStuck: boolean): string {
  const which = `The restore that was cut off (${report.restore})`
  if (isStuck) {
    const paths = report.failed.map(({ path }) => path).join(', ')
    return `${which} could not be rolled back whole, and is left as it is: ${paths}`
  }
  return `${which} was ${journal.isAborting ? 'rolled back' : 'finished'} first.`
}

function waitingInWords(deps: Deps, turn: TurnId): string {
  const number = deps.log.findTurn(turn)?.number
  return `The agent is at work in turn @${number}: waiting up to ${limits.busyWaitSeconds} seconds for it. --close-open does not wait.`
}

/** A person waits for the report, and the search of a big turn takes minutes: who shows or sends it next signs it. */
const SIGN_REST_MS = 1000

/**
 * The look at the present may have made an outside turn: it is signed too, so that it can be sent with the restore.
 * The restore is done and recorded by now, so trouble here is said and does not take the report's place.
 */
async function signTheRest(deps: Deps, workspace: Workspace, warn: (text: string) => void): Promise<void> {
  try {
    await deps.capture.settle(workspace, SIGN_REST_MS)
  } catch (error) {
    const trouble = findAnyFault(error) ?? error
    if (!(trouble instanceof DomainError)) throw error
    warn(`What was changed outside of turns is not signed yet: ${trouble.message}`)
  }
}

/** What a restore stands on once the present is recorded. */
interface Ground {
  readonly sight: Sight
  /** The preview that was agreed to, or null. */
  readonly kept: KeptPlan | null
  /** Takes what a person should hear that is no part of the report. */
  readonly warn: (text: string) => void
}

async function restoreFrom(
  deps: Deps,
  lease: Lease,
  ask: RestoreAsk,
  { sight, kept, warn }: Ground,
): Promise<RestoreReport> {
  const head: ReportHead = {
    restore: ask.restore ?? makeId('r', deps.clock.nowMs(), deps.random(10)),
    requestedBy: ask.requestedBy,
    startedAt: now(deps),
    irreversible: [],
  }
  const turn = findTarget(deps, ask.workspace, ask.target)
  if (turn === null) return recordAlone(deps, ask, { ...emptyReport(deps, head), verified: true })
  const planned = await makePlan(deps, ask, sight, turn, ask.dryRun ? 'name-only' : 'store')
  const known = { ...head, irreversible: listIrreversible(deps, planned.plan.turns) }
  const refusal = findRefusal(ask, planned, kept)
  if (refusal !== null)
    return recordAlone(deps, ask, reportWithoutRun(deps, ask.workspace, planned.plan, known, refusal))
  if (planned.judgement.verdict === 'forward')
    warn('HEAD has moved forward since: the commits stay as they are, only files are given back.')
  if (ask.dryRun) return reportWithoutRun(deps, ask.workspace, planned.plan, known, null)
  if (ask.token !== null && !deps.log.usePlan(ask.token, deps.clock.nowMs()))
    throw new DomainError('PLAN_UNKNOWN', { token: ask.token })
  return run(deps, lease, ask, sight, planned, known)
}

/** A refused or empty restore makes no turn; its report is kept all the same. */
function recordAlone(deps: Deps, ask: RestoreAsk, report: RestoreReport): RestoreReport {
  if (!ask.dryRun) deps.capture.recordReport(ask.workspace, report)
  return report
}

function findRefusal(
  ask: RestoreAsk,
  planned: Planned,
  kept: KeptPlan | null,
): RestoreReport['error'] | null {
  const stale = kept === null ? null : findStaleness(kept, planned)
  if (stale !== null) return refusalOf('TOKEN_STALE', { paths: stale.paths, head: stale.head })
  const { verdict, then, now: current } = planned.judgement
  if (verdict === 'moved' && !ask.allowHeadChange) return refusalOf('HEAD_MOVED', { then, now: current })
  if (planned.plan.refusal !== null)
    return refusalOf(planned.plan.refusal, { paths: planned.plan.conflicts.map((item) => item.path) })
  return null
}

function refusalOf(code: ErrorCode, details: Record<string, unknown>): RestoreReport['error'] {
  return { code, message: errorCatalogue[code].message, details }
}

async function run(
  deps: Deps,
  lease: Lease,
  ask: RestoreAsk,
  sight: Sight,
  planned: Planned,
  head: ReportHead,
): Promise<RestoreReport> {
  const { workspace } = ask
  const plan = { ...planned.plan, steps: planned.plan.steps.map(withoutSetId) }
  const writer = deps.writer(workspace, head.restore)
  const journal: Journal = {
    restore: head.restore,
    turn: makeId('t', deps.clock.nowMs(), deps.random(10)),
    wish: { target: ask.target, options: ask.options },
    plan,
    scan: sight.scan,
    widened: writer.narrowFolders(plan.steps.map((step) => step.path)),
    irreversible: head.irreversible,
    requestedBy: head.requestedBy,
    startedAt: head.startedAt,
    isAborting: false,
  }
  // Bytes of merges were put by the plan. They are durable before the journal names them.
  deps.blobs.flush()
  if (plan.steps.length > 0) putJournal(deps, workspace, journal)
  return orNotRecorded(journal, async () =>
    finishOrTell(
      deps,
      lease,
      workspace,
      journal,
      await carryOut(writer, plan.steps, { check: () => lease.check() }),
      false,
    ),
  )
}
