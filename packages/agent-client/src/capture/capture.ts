import type { CaptureDeps } from '#capture-ports.ts'
import type { Capture, Leases } from '#ports.ts'
import { lookAtTree } from './look.ts'
import { recordReport, recordRestore } from './restore-turn.ts'
import { signClosedTurns } from './sign-turns.ts'
import { closeTurnsByUs } from './turns.ts'

/** What others ask of capture/: see {@link Capture}. */
export function createCapture(deps: CaptureDeps, leases: Leases): Capture {
  return {
    async scan(lease, workspace, options) {
      const looked = await lookAtTree(deps, lease, workspace, {
        countExcluded: options?.countExcluded ?? false,
        deadlineMs: null,
        late: new Set(),
      })
      const { scan, outside } = deps.log.transact(() => looked.record())
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
    closeOpenTurns: (lease, workspace, reason) =>
      closeTurnsByUs(deps, lease, workspace, deps.log.listOpenTurns(workspace.id), reason),
    recordRestore: (_lease, workspace, record) => recordRestore(deps, workspace, record),
    recordReport: (workspace, report) => recordReport(deps, workspace, report),
    isSettled: (workspace) => deps.captureLog.listUnsigned(workspace.id).length === 0,
    async settle(workspace) {
      if (deps.captureLog.listUnsigned(workspace.id).length === 0) return
      await leases.run(workspace, 'capture', () => signClosedTurns(deps, workspace))
    },
  }
}
