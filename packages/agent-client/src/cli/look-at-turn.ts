import { DomainError } from '@turnback/core'
import type { TurnRow, Workspace } from '#ports.ts'
import { recordPresent } from '#restore/planned.ts'
import type { Context } from './context.ts'
import { findTurnByName } from './find-turn.ts'

/**
 * The turn that a name means, ready to be shown: a closed one with its manifest signed; for an open one the tree is
 * looked at first, as a preview does, so that all that is asked of it has the same answer.
 * @throws TURN_NOT_FOUND, TURN_AMBIGUOUS, HISTORY_GAP
 */
export async function lookAtTurn(context: Context, workspace: Workspace, name: string): Promise<TurnRow> {
  const { deps } = context
  const found = findTurnByName(deps.log, workspace, name)
  if (found.isOpen)
    await deps.leases.run(workspace, 'capture', (lease) => recordPresent(deps, lease, workspace))
  const row = found.isOpen ? deps.log.findTurn(found.turn) : found
  if (row === null) throw new DomainError('TURN_NOT_FOUND', { turn: name })
  // The look may have found that the turn's agent is gone, and closed it.
  if (!row.isOpen) await deps.capture.settle(workspace)
  return row
}
