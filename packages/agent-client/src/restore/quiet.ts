import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, limits } from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'

const LOOK_AGAIN_MS = 200

/** What of the client is looked at here. */
interface QuietDeps extends Pick<Deps, 'clock'> {
  readonly capture: Pick<Deps['capture'], 'findBusy'>
}

/**
 * Waits until no agent is at work in the workspace (contract rule 10).
 * @param caller the process that asks, or null
 * @throws BUSY when one still is after ten seconds
 */
export async function waitForQuiet(
  deps: QuietDeps,
  workspace: Workspace,
  caller: number | null,
): Promise<void> {
  const until = deps.clock.nowMs() + limits.busyWaitSeconds * 1000
  for (;;) {
    const busy = deps.capture.findBusy(workspace, caller)
    if (busy === null) return
    if (deps.clock.nowMs() >= until) throw new DomainError('BUSY', { turn: busy })
    await sleep(LOOK_AGAIN_MS)
  }
}
