import { DomainError } from '@turnback/core'
import type { Log, TurnRow, Workspace } from '#ports.ts'

/**
 * The turn that a name means: its id, letters that only its id begins with, its number `12` or `@12`, or `last`
 * for the latest agent or task turn.
 * @throws TURN_NOT_FOUND, TURN_AMBIGUOUS; HISTORY_GAP when retention removed it
 */
export function findTurnByName(log: Log, workspace: Workspace, name: string): TurnRow {
  const turns = log.listTurns(workspace.id)
  const found = matching(turns, name)
  const first = found[0]
  if (first === undefined)
    throw new DomainError(isRemoved(log, workspace, name) ? 'HISTORY_GAP' : 'TURN_NOT_FOUND', { turn: name })
  if (found.length > 1)
    throw new DomainError('TURN_AMBIGUOUS', { turn: name, turns: found.map(({ turn }) => turn) })
  return first
}

/** True when the name means a turn that was here once. */
function isRemoved(log: Log, workspace: Workspace, name: string): boolean {
  if (log.findGap(workspace.id) === null) return false
  return matching(log.listRemovedTurns(workspace.id), name).length > 0
}

function matching<T extends Pick<TurnRow, 'turn' | 'number' | 'kind'>>(
  turns: readonly T[],
  name: string,
): T[] {
  if (name === 'last') {
    const last = turns.findLast(({ kind }) => kind === 'agent' || kind === 'task')
    return last === undefined ? [] : [last]
  }
  const number = /^@?([0-9]+)$/.exec(name)?.[1]
  if (number !== undefined) return turns.filter((turn) => turn.number === Number(number))
  if (name === '') return []
  return turns.filter(({ turn }) => turn.startsWith(name) || turn.slice(2).startsWith(name))
}
