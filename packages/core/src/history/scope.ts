import { DomainError } from '#errors.ts'
import type { TurnId } from '#ids.ts'
import type { Scope } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import { isWithin } from '#path/rel-path.ts'
import type { Change } from './change.ts'
import type { TurnFacts } from './turn-facts.ts'
import { isWork } from './turn-facts.ts'

/** Which changes a restore undoes (contract rules 4 and 8), worked out for one target. */
export interface ResolvedScope {
  readonly target: TurnFacts
  readonly scope: Scope
  readonly exact: boolean
  /** The turns of the scope, agent and task ones, oldest first. */
  readonly turns: readonly TurnId[]
  /** The same as a set. */
  readonly members: ReadonlySet<TurnId>
  /** True when all sessions are in scope: then shared changes are, and nobody else's stands in the way. */
  readonly allSessions: boolean
  /** With `exact`: everything that no session owns and that came after this scan is in scope. Else null. */
  readonly exactSince: number | null
  /** Of a checkpoint: work after this scan is in scope, also that of turns begun before it. Else null. */
  readonly workSince: number | null
  /** Of a checkpoint of named paths: only these. Null for all. */
  readonly paths: readonly RelPath[] | null
}

/**
 * Works out the scope of restoring `target`, a turn that is no restore (those are taken back, see
 * `planRestore`).
 * @throws DomainError TURN_NOT_FOUND when no such turn is known, NOT_RESTORABLE for an `outside` turn
 */
export function resolveScope(
  turns: readonly TurnFacts[],
  request: { readonly target: TurnId; readonly scope: Scope; readonly exact: boolean },
): ResolvedScope {
  const target = turns.find((turn) => turn.turn === request.target)
  if (target === undefined) throw new DomainError('TURN_NOT_FOUND', { turn: request.target })
  if (target.kind === 'outside') throw new DomainError('NOT_RESTORABLE', { turn: request.target })
  const isCheckpoint = target.kind === 'checkpoint'
  const scope = isCheckpoint ? 'all-sessions' : request.scope
  const chosen = turns
    .filter((turn) => isWork(turn.kind) && isChosen(turn, target, scope))
    .toSorted((a, b) => a.number - b.number)
    .map((turn) => turn.turn)
  return {
    target,
    scope,
    exact: request.exact,
    turns: chosen,
    members: new Set(chosen),
    allSessions: scope === 'all-sessions',
    exactSince: request.exact ? target.beginScan : null,
    workSince: isCheckpoint ? target.beginScan : null,
    paths: target.paths,
  }
}

function isChosen(turn: TurnFacts, target: TurnFacts, scope: Scope): boolean {
  switch (scope) {
    case 'turn':
      return turn.turn === target.turn
    case 'from-turn':
      return turn.turn === target.turn || (turn.number > target.number && isSameSession(turn, target))
    case 'session':
      return turn.turn === target.turn || isSameSession(turn, target)
    case 'all-sessions':
      return turn.number >= target.number
  }
}

function isSameSession(a: TurnFacts, b: TurnFacts): boolean {
  return a.session !== null && a.session === b.session
}

/** True when the change is one that a restore of this scope undoes. */
export function isInScope(scope: ResolvedScope, change: Change): boolean {
  if (scope.paths !== null && !scope.paths.some((folder) => isWithin(change.path, folder))) return false
  switch (ownerOf(change)) {
    case 'person':
      return scope.exactSince !== null && change.scan > scope.exactSince
    case 'shared': {
      if (scope.exactSince !== null && change.scan > scope.exactSince) return true
      if (!scope.allSessions) return false
      return scope.workSince !== null
        ? change.scan > scope.workSince
        : change.sharedBy.some((turn) => scope.members.has(turn))
    }
    case 'session':
      return scope.workSince !== null ? change.scan > scope.workSince : scope.members.has(change.turn)
  }
}

/** Whose change it is: one session's, several open turns' together, or a person's (outside, or a restore's own). */
export type Owner = 'session' | 'shared' | 'person'

export function ownerOf(change: Change): Owner {
  if (change.source === 'shared') return 'shared'
  return isWork(change.kind) ? 'session' : 'person'
}
