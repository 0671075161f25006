import { DomainError, type RestoreRequest } from '@turnback/core'
import type { Log, TurnRow, Workspace } from '#ports.ts'

/**
 * The workspace and turn that a request names, if this machine itself recorded them. A service can only point
 * at what is here already; what it says of its own is never looked up anywhere else.
 * @throws WORKSPACE_NOT_FOUND, TURN_NOT_FOUND; HISTORY_GAP when retention removed it
 */
export function findOwn(
  log: Log,
  request: Pick<RestoreRequest, 'workspace' | 'turn'>,
): { readonly workspace: Workspace; readonly turn: TurnRow } {
  const workspace = log.findWorkspace(request.workspace)
  if (workspace === null) throw new DomainError('WORKSPACE_NOT_FOUND', { workspace: request.workspace })
  const turn = log.findTurn(request.turn)
  if (turn === null || turn.workspace !== workspace.id) {
    const isRemoved = log.listRemovedTurns(workspace.id).some((removed) => removed.turn === request.turn)
    throw new DomainError(isRemoved ? 'HISTORY_GAP' : 'TURN_NOT_FOUND', { turn: request.turn })
  }
  return { workspace, turn }
}
