import { DomainError, limits } from '@turnback/core'
import type { Deps } from '#ports.ts'
import { type RestoreAsk, wishText } from './ask.ts'
import type { KeptPlan, Planned } from './planned.ts'

/** Keeps a preview so that it can be agreed to, once and for ten minutes by this machine's clock. */
export function keepPlan(deps: Deps, ask: RestoreAsk, { plan, head, token }: Planned): void {
  const createdMs = deps.clock.nowMs()
  deps.log.deletePlansBefore(createdMs - limits.planTtlSeconds * 1000)
  deps.log.putPlan({
    token,
    workspace: ask.workspace.id,
    restore: ask.restore,
    request: wishText(ask),
    plan: JSON.stringify({ plan, head } satisfies KeptPlan),
    createdMs,
    usedMs: null,
  })
}

/** @throws PLAN_UNKNOWN when it is not this machine's, was for something else, was used, or is too old */
export function getKeptPlan(deps: Deps, ask: RestoreAsk, token: string): KeptPlan {
  const row = deps.log.findPlan(token)
  const oldest = deps.clock.nowMs() - limits.planTtlSeconds * 1000
  if (row === null || row.workspace !== ask.workspace.id || row.usedMs !== null || row.createdMs < oldest)
    throw new DomainError('PLAN_UNKNOWN', { token })
  if (row.request !== wishText(ask))
    throw new DomainError('PLAN_UNKNOWN', { token, why: 'made for other options' })
  // Written by keepPlan above, in our own database.
  return JSON.parse(row.plan) as KeptPlan
}
