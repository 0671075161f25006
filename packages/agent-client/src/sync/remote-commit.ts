import {
  DomainError,
  invariant,
  type RestoreCommit,
  type RestoreId,
  type RestoreReport,
} from '@turnback/core'
import { emptyReport } from '#restore/finish.ts'
import { recover } from '#restore/recover.ts'
import type { Acknowledge, CommandContext } from './commands.ts'
import { findOwn } from './own-log.ts'
import { loadPolicy } from './policy.ts'
import { asDomainError } from './push-trouble.ts'
import type { RemotePlan } from './remote-plans.ts'
import { findApprovalRefusal, findCommitRefusal } from './remote-rules.ts'

/**
 * Judges a word to write, takes its plan for good, and only then carries it out. What is not followed is answered
 * with a report that says why, but for a plan that never was ours or has come to its end: there is nothing to say.
 */
export async function takeCommit(
  context: CommandContext,
  message: RestoreCommit,
  acknowledge: Acknowledge,
): Promise<void> {
  const { deps, plans, note } = context
  const plan = plans.find(message.restore)
  if (plan === null || plan.state === 'used' || plan.state === 'closed') {
    note('commit-not-followed', { restore: message.restore, state: plan?.state ?? 'unknown' })
    return acknowledge()
  }
  const nowMs = deps.clock.nowMs()
  const refusal = findCommitRefusal(message, plan, {
    policy: loadPolicy(deps.home),
    usedInLastHour: plans.countUsedSince(nowMs),
    isTooOld: plans.isTooOld(plan, nowMs),
    nowMs,
  })
  if (refusal !== null) {
    refuse(context, plan, refusal)
    return acknowledge()
  }
  const isTaken = plans.use(message.restore, nowMs)
  acknowledge()
  if (isTaken) await carryOut(context, plan, { kind: 'user', name: message.authorisedBy.name })
}

/**
 * Carries a plan out on a yes given at this machine: the very plan that was sent, under the id that was asked for.
 * @throws RESTORE_NOT_FOUND · PLAN_UNKNOWN, POLICY_REFUSED, RATE_LIMITED before anything is done; the plan then
 * stays as it is · what stopped the restore, which is reported too
 */
export async function approve(context: CommandContext, restore: RestoreId): Promise<RestoreReport> {
  const { deps, plans } = context
  const plan = plans.find(restore)
  if (plan === null) throw new DomainError('RESTORE_NOT_FOUND', { restore })
  const nowMs = deps.clock.nowMs()
  const refusal = findApprovalRefusal(plan, {
    policy: loadPolicy(deps.home),
    usedInLastHour: plans.countUsedSince(nowMs),
    isTooOld: plans.isTooOld(plan, nowMs),
  })
  if (refusal !== null) throw refusal
  if (!plans.use(restore, nowMs)) throw new DomainError('PLAN_UNKNOWN', { restore })
  const carried = await carryOut(context, plan, plan.requestedBy)
  if (carried.error !== null) throw carried.error
  return carried.report
}

type Carried =
  | { readonly report: RestoreReport; readonly error: null }
  | { readonly report: null; readonly error: DomainError }

/** Of a plan that was taken. What stops it is written down and told, so it is given back, not thrown. */
async function carryOut(
  context: CommandContext,
  plan: RemotePlan,
  requestedBy: RestoreReport['requestedBy'],
): Promise<Carried> {
  const { deps, restores, plans, note, wakePush } = context
  note('restore-begins', { restore: plan.restore, turn: plan.request.turn, by: requestedBy.name })
  try {
    const { workspace } = findOwn(deps.log, plan.request)
    invariant(plan.token !== null, 'a plan that can be taken has a token')
    const word = { restore: plan.restore, token: plan.token, requestedBy }
    const report = await restores.execute(workspace, plan.request, word)
    // One that a crash had cut off was finished instead, and it was for the same: its outcome is this one's too.
    if (report.restore !== plan.restore)
      deps.capture.recordReport(workspace, { ...report, restore: plan.restore })
    plans.change(plan.restore, { isReported: true })
    note('restore-ended', { restore: plan.restore, status: report.status })
    return { report, error: null }
  } catch (thrown) {
    const error = asDomainError(thrown)
    note('restore-stopped', { restore: plan.restore, message: error.message })
    await endWithoutReport(context, plan, error)
    return { report: null, error }
  } finally {
    wakePush()
  }
}

/** A plan that was taken, in a process that ended before a report was written down. */
export async function endCutOff(context: CommandContext, plan: RemotePlan): Promise<void> {
  const { deps, note } = context
  const workspace = deps.log.findWorkspace(plan.request.workspace)
  // Agreed to at the command line, and under way there.
  if (workspace !== null && deps.leases.findHolder(workspace)?.purpose === 'restore')
    return note('restore-is-under-way', { restore: plan.restore })
  const message = 'The machine was stopped before the restore began; nothing was done.'
  await endWithoutReport(context, plan, new DomainError('INTERNAL', {}, { message }))
}

/** Nothing is said to be undone or done that the log and the journal do not show. */
async function endWithoutReport(
  context: CommandContext,
  plan: RemotePlan,
  error: DomainError,
): Promise<void> {
  const { deps, plans } = context
  const { workspace } = plan.request
  const isRecorded = () => deps.log.listRestores(workspace).some((row) => row.detail.id === plan.restore)
  if (isRecorded()) return plans.change(plan.restore, { isReported: true })
  if (deps.log.findJournal(workspace)?.restore !== plan.restore) return refuse(context, plan, error)
  await finishHalfWritten(context, plan)
}

/**
 * A restore that was confirmed and cut off in the middle is finished, as any restoring command here would do first;
 * unless the policy was changed since: then it waits for such a command.
 */
async function finishHalfWritten(context: CommandContext, plan: RemotePlan): Promise<void> {
  const { deps, plans, note } = context
  const { workspace } = findOwn(deps.log, plan.request)
  if (loadPolicy(deps.home).remote !== 'owner') return note('restore-cut-off', { restore: plan.restore })
  try {
    const report = await recover(deps, workspace, 'finish')
    plans.change(plan.restore, { isReported: true })
    note('restore-finished-after-cut', { restore: plan.restore, status: report.status })
  } catch (error) {
    note('restore-cut-off', { restore: plan.restore, message: asDomainError(error).message })
  }
}

/** Writes down the report of a restore in which nothing was done. */
function refuse(context: CommandContext, plan: RemotePlan, error: DomainError): void {
  const { deps, plans, note, wakePush } = context
  note('restore-refused', { restore: plan.restore, code: error.code, message: error.message })
  const workspace = deps.log.findWorkspace(plan.request.workspace)
  const startedAt = new Date(deps.clock.nowMs()).toISOString()
  const head = { restore: plan.restore, requestedBy: plan.requestedBy, startedAt, irreversible: [] }
  const report: RestoreReport = {
    ...emptyReport(deps, head),
    status: error.code === 'INTERNAL' ? 'failed' : 'refused',
    error: { code: error.code, message: error.message },
  }
  deps.log.transact(() => {
    const isUsed = plans.find(plan.restore)?.state === 'used'
    plans.change(plan.restore, { state: isUsed ? 'used' : 'closed', isReported: true })
    if (workspace !== null) deps.capture.recordReport(workspace, report)
  })
  wakePush()
}
