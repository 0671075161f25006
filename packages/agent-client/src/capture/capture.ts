import { decideTurn, isBusy } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { Capture, Lease, Leases, TurnRow, Workspace } from '#ports.ts'
import type { Audits } from './audit.ts'
import { makeCheckpoint } from './checkpoint.ts'
import { closePlanned, closeTurnsByUs, turnsOf } from './close-turn.ts'
import { noteInterruptions } from './interruption.ts'
import { lookAtTree } from './look.ts'
import { lookAndRecord } from './note-event.ts'
import { recordReport, recordRestore } from './restore-turn.ts'
import { listAbandoned, type PlannedClose, toOpenTurn } from './session.ts'
import { signBesideOthers } from './sign-turns.ts'
import { isHeldByOther } from './turns.ts'

/** What others ask of capture/: see {@link Capture}. */
export function createCapture(
  deps: CaptureDeps,
  leases: Leases,
  audits: Pick<Audits, 'isPending'> | null,
): Capture {
  return {
    async scan(lease, workspace, options) {
      const abandoned = listAbandoned(deps, workspace, null)
      const looked = await lookAtTree(deps, lease, workspace, {
        countExcluded: options?.countExcluded ?? false,
        deadlineMs: null,
        late: turnsOf(abandoned),
      })
      const { scan, outside } = deps.log.transact(() => {
        const recorded = looked.record()
        closePlanned(deps, abandoned, { ...looked, scan: recorded.scan })
        return recorded
      })
      const { skipped, statted, hashed, incomplete } = looked.observation
      return {
        scan,
        outside,
        skipped,
        statted,
        hashed,
        incomplete,
        tree: deps.log.getKnownTree(workspace.id),
      }
    },
    closeOpenTurns(lease, workspace) {
      noteInterruptions(deps, workspace)
      return closeTurnsByUs(deps, lease, workspace, planInterruption(deps, workspace))
    },
    findBusy(workspace, caller) {
      noteInterruptions(deps, workspace)
      const nowMs = deps.clock.nowMs()
      const above = caller === null ? [] : deps.processes.listChain(caller).map(({ pid }) => pid)
      const busy = deps.log
        .listOpenTurns(workspace.id)
        .find((row) => isBusy(toOpenTurn(deps, row), nowMs) && !isInside(deps, row, above))
      return busy?.turn ?? null
    },
    listLeftBehind(workspace) {
      noteInterruptions(deps, workspace)
      const unseen = deps.log.listOpenTurns(workspace.id).filter((row) => row.isUnseen)
      const abandoned = listAbandoned(deps, workspace, null).map(({ row }) => row)
      return [...abandoned, ...unseen].map((row) => row.turn)
    },
    async lookAfter(workspace, only) {
      if (this.listLeftBehind(workspace).length === 0) return []
      try {
        return await leases.run(workspace, 'capture', (lease) => lookAfter(deps, lease, workspace, only), 0)
      } catch (error) {
        if (isHeldByOther(error)) return []
        throw error
      }
    },
    makeCheckpoint: (lease, workspace, request) => makeCheckpoint(deps, lease, workspace, request),
    recordRestore: (lease, workspace, record) =>
      deps.log.transact(() => {
        lease.check()
        return recordRestore(deps, workspace, record)
      }),
    isAwaitingAudit: (workspace) => audits?.isPending(workspace) ?? false,
    recordReport: (workspace, report) => recordReport(deps, workspace, report),
    isSettled: (workspace) => deps.captureLog.listUnsigned(workspace.id).length === 0,
    async settle(workspace, searchMs = null) {
      if (deps.captureLog.listUnsigned(workspace.id).length === 0) return
      const untilMs = searchMs === null ? null : deps.clock.nowMs() + searchMs
      await signBesideOthers({ ...deps, leases }, workspace, { untilMs })
    },
  }
}

function planInterruption(deps: CaptureDeps, workspace: Workspace): PlannedClose[] {
  return deps.log.listOpenTurns(workspace.id).flatMap((row) => {
    const { close } = decideTurn({ open: toOpenTurn(deps, row), closed: null }, { type: 'restore' })
    return close === null ? [] : [{ row, closing: close }]
  })
}

/** A command that the turn's own agent runs. */
function isInside(
  { processes }: Pick<CaptureDeps, 'processes'>,
  { agentProcess }: TurnRow,
  above: readonly number[],
): boolean {
  if (agentProcess === null || processes.isOutOfSight(agentProcess)) return false
  return above.includes(agentProcess.pid)
}

async function lookAfter(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  only: ReadonlySet<TurnRow['turn']> | undefined,
): Promise<TurnRow['turn'][]> {
  const abandoned = listAbandoned(deps, workspace, null).filter(({ row }) => only?.has(row.turn) !== false)
  if (abandoned.length > 0) return closeTurnsByUs(deps, lease, workspace, abandoned)
  if (deps.log.listOpenTurns(workspace.id).some((row) => row.isUnseen))
    await lookAndRecord(deps, lease, workspace)
  return []
}
