import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, limits, type TurnId } from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'

const LOOK_AGAIN_MS = 200

/** What of the client is looked at here. */
interface QuietDeps extends Pick<Deps, 'clock'> {
  readonly capture: Pick<Deps['capture'], 'findBusy'>
}

/**
 * Waits until no agent is at work in the workspace (contract rule 10).
 * @param caller the process that asks, or null
 * @param onWait told once, with the turn that is waited for
 * @throws BUSY when one still is after ten seconds
 */
export async function waitForQuiet(
  deps: QuietDeps,
  workspace: Workspace,
  caller: number | null,
  onWait: (turn: TurnId) => void = () => {},
): Promise<void> {
  const until = deps.clock.nowMs() + limits.busyWaitSeconds * 1000
  for (let isTold = false; ; isTold = true) {
    const busy = deps.capture.findBusy(workspace, caller)
    if (busy === null) return
    if (!isTold) onWait(busy)
    if (deps.clock.nowMs() >= until) throw new DomainError('BUSY', { turn: busy })
    await sleep(LOOK_AGAIN_MS)
  }
}
