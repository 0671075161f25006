import type { Authoriser, DomainError, PlanRequest, Preview, RestoreId } from '@turnback/core'
import { type PlanBody, routes } from '@turnback/core/api'
import type { Caller } from './caller.ts'
import type { Acknowledge, CommandContext } from './commands.ts'
import { findOwn } from './own-log.ts'
import { loadPolicy } from './policy.ts'
import { targetKey } from './push-reports.ts'
import { asDomainError, judgeReportTrouble } from './push-trouble.ts'
import { callOptions } from './push-turn.ts'
import type { RemotePlan } from './remote-plans.ts'
import { countFiles, findPlanRefusal, findSizeRefusal, mayRunAtOnce } from './remote-rules.ts'

/** Who asked, and when. */
export interface Asked {
  readonly by: Authoriser
  readonly atMs: number
}

/** Writes the request down, says so, and plans. A request that is known already is not planned a second time. */
export async function takeRequest(
  context: CommandContext,
  message: PlanRequest,
  acknowledge: Acknowledge,
): Promise<void> {
  const { deps, plans, note, wakePush } = context
  if (plans.find(message.restore) !== null) {
    acknowledge()
    return wakePush()
  }
  const { kind, name } = message.requestedBy
  const asked: RemotePlan = {
    restore: message.restore,
    command: message.id,
    request: message.request,
    requestedBy: { kind, name },
    receivedAtMs: deps.clock.nowMs(),
    state: 'asked',
    plannedAtMs: null,
    usedAtMs: null,
    token: null,
    files: 0,
    isDelivered: false,
    isReported: false,
  }
  deps.log.transact(() => {
    plans.put(asked)
    deps.log.putFact(targetKey(message.restore), message.request.turn)
  })
  note('plan-asked', { restore: message.restore, turn: message.request.turn, by: name })
  acknowledge()
  await planAsked(context, asked, { by: message.requestedBy, atMs: Date.parse(message.requestedAt) })
}

/** @param word null when it is not known any more who asked when: then the plan waits for a word in any case */
export async function planAsked(
  context: CommandContext,
  asked: RemotePlan,
  word: Asked | null,
): Promise<void> {
  const { deps, plans, note, wakePush } = context
  const made = await makePlan(context, asked)
  const nowMs = deps.clock.nowMs()
  const envelope = deps
    .identity()
    .signEnvelope('plan', Buffer.from(JSON.stringify(bodyOf(context, asked, made, word, nowMs))))
  deps.log.transact(() => {
    const isClosed = made.preview === null || plans.find(asked.restore)?.state === 'closed'
    plans.change(asked.restore, {
      state: isClosed ? 'closed' : 'planned',
      plannedAtMs: nowMs,
      token: made.preview?.token ?? null,
      files: made.preview === null ? 0 : countFiles(made.preview),
    })
    plans.putEnvelope(asked.restore, envelope)
  })
  note('planned', { restore: asked.restore, refusal: made.refusal?.code ?? null })
  wakePush()
}

/** Sends plans and refusals that the service has not. @throws when it is to be tried later */
export async function deliverPlans(
  context: CommandContext,
  caller: Caller,
  signal?: AbortSignal,
): Promise<void> {
  const { plans } = context
  for (const plan of plans.list()) {
    if (plan.isDelivered || plan.state === 'asked') continue
    const envelope = plans.findEnvelope(plan.restore)
    if (envelope !== null) await putPlan(context, caller, plan.restore, envelope, signal)
    plans.change(plan.restore, { isDelivered: true })
    plans.putEnvelope(plan.restore, null)
  }
}

async function putPlan(
  context: CommandContext,
  caller: Caller,
  restore: RestoreId,
  envelope: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await caller.call(routes.putPlan, { params: { restore }, bytes: [envelope] }, callOptions(signal))
    context.note('plan-sent', { restore })
  } catch (thrown) {
    const error = asDomainError(thrown)
    if (judgeReportTrouble(error) === 'later') throw error
    context.note('plan-not-taken', { restore, code: error.code, message: error.message })
  }
}

type Made =
  | { readonly preview: Preview; readonly refusal: null }
  | { readonly preview: null; readonly refusal: DomainError }

/** Only ever of a workspace and a turn that this machine itself recorded. */
async function makePlan({ deps, restores }: CommandContext, asked: RemotePlan): Promise<Made> {
  try {
    const refusal = findPlanRefusal(loadPolicy(deps.home))
    if (refusal !== null) return { preview: null, refusal }
    const { workspace } = findOwn(deps.log, asked.request)
    const preview = await restores.preview(workspace, asked.request, asked.restore)
    const tooBig = findSizeRefusal(countFiles(preview))
    return tooBig === null ? { preview, refusal: null } : { preview: null, refusal: tooBig }
  } catch (error) {
    return { preview: null, refusal: asDomainError(error) }
  }
}

function bodyOf(
  { deps }: CommandContext,
  asked: RemotePlan,
  made: Made,
  word: Asked | null,
  nowMs: number,
): PlanBody {
  const { preview, refusal } = made
  return {
    restore: asked.restore,
    workspace: asked.request.workspace,
    preview,
    refusal: refusal === null ? null : { code: refusal.code, message: refusal.message },
    mayRunAtOnce:
      preview !== null && word !== null && mayRunAtOnce(loadPolicy(deps.home), preview, word, nowMs),
    plannedAt: new Date(nowMs).toISOString(),
  }
}
