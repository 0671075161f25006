import { DomainError } from '#errors.ts'
import type { Gap, Listing } from '#history/gap.ts'
import type { LiveStacks, Stack } from '#history/stack.ts'
import { isWork, type TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import type { RelPath } from '#path/rel-path.ts'
import { equalStates, type State } from '#tree/state.ts'
import type { Decision } from './decision.ts'
import type { PlanOptions } from './plan.ts'

/** What stands in for the part of the log that was removed, for a target that lies before it. */
export interface Beyond {
  /** The removed turns after the target: its scope speaks of them too. */
  readonly turns: readonly TurnFacts[]
  readonly listing: Listing
}

/** Why a turn is not there: retention removed it, or nobody ever made it. */
export function notFound(turn: TurnId, gap: Gap | undefined): DomainError {
  const isRemoved = gap?.turns.some((removed) => removed.turn === turn) ?? false
  return new DomainError(isRemoved ? 'HISTORY_GAP' : 'TURN_NOT_FOUND', { turn })
}

/**
 * Looks whether a restore reaches beyond the gap. Null when everything that it needs is in the log.
 * @throws DomainError HISTORY_GAP when it needs what was removed. What a turn lists of itself is enough to return
 *   to it, not to take it alone out of what came after.
 */
export function lookBeyond(
  gap: Gap,
  target: TurnFacts,
  request: PlanOptions,
  turns: readonly TurnFacts[],
): Beyond | null {
  const refuse = () => new DomainError('HISTORY_GAP', { turn: target.turn })
  const isBefore = target.beginScan < gap.scan
  if (isWork(target.kind) && request.scope === 'session') {
    const isLost = (turn: TurnFacts): boolean =>
      isWork(turn.kind) && turn.session !== null && turn.session === target.session
    const others = [...gap.turns, ...turns.filter((turn) => turn.beginScan < gap.scan)]
    if (others.some((turn) => isLost(turn) && (!isBefore || turn.number < target.number))) throw refuse()
  }
  if (!isBefore || target.kind === 'outside') return null
  const isOneTurn = request.hunks !== null || (isWork(target.kind) && request.scope === 'turn')
  if (gap.listing === null || isOneTurn) throw refuse()
  return { turns: gap.turns.filter((turn) => turn.number > target.number), listing: gap.listing }
}

/** The stacks with what was removed under them, as far as the target listed it. */
export function joinStacks(live: LiveStacks, listing: Listing): LiveStacks {
  const joined = new Map<RelPath, Stack>(live)
  for (const [path, { later }] of listing) {
    if (later.length > 0) joined.set(path, [...later, ...(live.get(path) ?? [])])
  }
  return joined
}

/**
 * The same decision with an effect on what is in the log only: a change that was removed cannot be taken off a
 * stack. What the path comes to is pushed then, unless what is left of the stack says so already.
 * @param stack the path's live changes that are in the log
 * @param base what the path was before any of them
 * @param scan the last scan that was removed
 */
export function withoutRemoved(decision: Decision, stack: Stack, base: State, scan: number): Decision {
  if (decision.act !== 'write' && decision.act !== 'settle') return decision
  const { effect } = decision
  const popped = effect.popped.filter((ref) => ref.scan > scan)
  if (popped.length === effect.popped.length) return decision
  const gone = new Set(popped.map((ref) => ref.scan))
  const below = stack.filter((change) => !gone.has(change.scan)).at(-1)?.after ?? base
  const to = decision.act === 'write' ? decision.to : decision.from
  const pushed = equalStates(below, to) ? null : { before: below, after: to }
  return { ...decision, effect: { ...effect, popped, pushed } }
}
