import type { TurnId } from '@turnback/core'
import type { Log } from '#ports.ts'

export type Turns = Pick<Log, 'findTurn'>

/** A turn as people name it: `@12`; its id when retention has removed it. */
export function nameTurn(log: Turns, turn: TurnId): string {
  const row = log.findTurn(turn)
  return row === null ? turn : `@${row.number}`
}

/** `@1`, `@1 and @3`, `@1, @2 and 5 more`. */
export function nameTurns(log: Turns, turns: readonly TurnId[]): string {
  const SHOWN = 4
  const named = turns
    .slice(0, turns.length > SHOWN + 1 ? SHOWN : turns.length)
    .map((turn) => nameTurn(log, turn))
  const left = turns.length - named.length
  const last = left > 0 ? `${left} more` : named.pop()
  return named.length === 0 ? (last ?? 'no turn') : `${named.join(', ')} and ${last}`
}

/** By whom a change was made: `by @4`, or by nobody's turn. */
export function byWhom(log: Turns, turn: TurnId, session?: string): string {
  const name = nameTurn(log, turn)
  switch (log.findTurn(turn)?.kind) {
    case 'outside':
      return `by hand or another program: ${name}`
    case 'restore':
      return `by the restore ${name}`
    default:
      return session === undefined ? `by ${name}` : `by ${name} of session ${session}`
  }
}
