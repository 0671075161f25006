import { isWork, type TurnId } from '@turnback/core'
import type { Attempt, TaskPlan, TaskPorts } from './task.ts'

/**
 * The latest moment of this run that the task called good: a checkpoint of the whole tree that the agent made for it, or
 * one after a verification that passed. Null when there is none, or others worked in the tree since: to return to a
 * checkpoint takes back everybody's turns.
 */
export function findLastGood(
  { deps, workspace }: TaskPorts,
  { task }: TaskPlan,
  attempts: readonly Attempt[],
): TurnId | null {
  const start = attempts[0]?.number ?? 0
  const turns = deps.log.listTurns(workspace.id).filter(({ number }) => number > start)
  const good = turns.findLast((row) => row.kind === 'checkpoint' && row.task === task && row.paths === null)
  if (good === undefined) return null
  const isOthers = turns.some(
    (row) => isWork(row.kind) && row.session !== task && (row.endScan ?? Infinity) > good.beginScan,
  )
  return isOthers ? null : good.turn
}
