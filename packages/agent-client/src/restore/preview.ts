import { DomainError, type Preview, previewOf, type RestorePlan } from '@turnback/core'
import type { Deps } from '#ports.ts'
import type { RestoreAsk } from './ask.ts'
import type { Naming } from './facts.ts'
import type { HeadJudgement } from './head.ts'
import { listIrreversible } from './irreversible.ts'
import { keepPlan } from './kept-plan.ts'
import { findTarget, makePlan, recordPresent } from './planned.ts'

/** A preview, with the plan behind it and how HEAD stands. */
export interface Previewed {
  readonly preview: Preview
  readonly plan: RestorePlan
  readonly head: HeadJudgement
}

/**
 * Says what a restore would do, and keeps the plan so that its token can be used within ten minutes. The tree is
 * only looked at, and what is seen is recorded as in any capture.
 * @param naming `store` keeps the bytes that a merge would make, so that they can be shown
 * @throws TURN_NOT_FOUND, also when undo or redo have nothing left; NOT_RESTORABLE
 */
export async function previewRestore(
  deps: Deps,
  ask: RestoreAsk,
  naming: Naming = 'name-only',
): Promise<Previewed> {
  return deps.leases.run(ask.workspace, 'capture', async (lease) => {
    const sight = await recordPresent(deps, lease, ask.workspace)
    const turn = findTarget(deps, ask.workspace, ask.target)
    if (turn === null) throw new DomainError('TURN_NOT_FOUND')
    const planned = await makePlan(deps, ask, sight, turn, naming)
    keepPlan(deps, ask, planned)
    const { judgement, plan, token } = planned
    const preview = previewOf(plan, {
      token,
      irreversible: listIrreversible(deps, plan.turns),
      head: { then: judgement.then, now: judgement.now },
    })
    return { preview, plan, head: judgement }
  })
}
