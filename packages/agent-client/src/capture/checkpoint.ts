import { makeId } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { CheckpointRequest, Lease, TurnRow, Workspace } from '#ports.ts'
import { closePlanned, closeTurn, turnsOf } from './close-turn.ts'
import { lookAtTree } from './look.ts'
import { listAbandoned } from './session.ts'
import { signClosedTurns } from './sign-turns.ts'

/** See {@link Capture.makeCheckpoint}. */
export async function makeCheckpoint(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: CheckpointRequest,
): Promise<TurnRow> {
  const label = request.label === null ? null : await deps.secrets.mask(request.label)
  const abandoned = listAbandoned(deps, workspace, null)
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: true,
    deadlineMs: null,
    late: turnsOf(abandoned),
  })
  const { observation, git } = looked
  const row = deps.log.transact(() => {
    const { scan } = looked.record()
    const seen = { scan, observation, git }
    closePlanned(deps, abandoned, seen)
    const now = deps.clock.nowMs()
    const turn = makeId('t', now, deps.random(10))
    deps.captureLog.insertTurn({
      turn,
      workspace: workspace.id,
      kind: 'checkpoint',
      session: null,
      key: null,
      agent: null,
      prompt: null,
      label,
      task: request.task,
      startedAt: new Date(now).toISOString(),
      headBefore: git.head,
      branch: git.branch,
      operation: git.operation,
      beginScan: scan,
      paths: request.paths,
      lateStart: false,
      incomplete: observation.incomplete,
      agentProcess: null,
      isUnseen: false,
      missed: null,
    })
    return closeTurn(deps, turn, { endReason: 'completed', lateEnd: false, lastMessage: null }, seen)
  })
  await signClosedTurns(deps, workspace)
  return row
}
