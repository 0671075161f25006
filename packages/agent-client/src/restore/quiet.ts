import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, limits, type TurnId } from '@turnback/core'
import type { Deps, TurnRow, Workspace } from '#ports.ts'

/** An agent that said something this short a time ago is at work. */
const BUSY_MS = 10_000
const LOOK_AGAIN_MS = 200

/** What of the client is looked at here. */
interface QuietDeps extends Pick<Deps, 'clock'> {
  readonly log: Pick<Deps['log'], 'listOpenTurns'>
}

/**
 * Waits until no agent is at work in the workspace (contract rule 10).
 * @throws BUSY when one still is after ten seconds
 */
export async function waitForQuiet(deps: QuietDeps, workspace: Workspace): Promise<void> {
  const until = deps.clock.nowMs() + limits.busyWaitSeconds * 1000
  for (;;) {
    const busy = findBusy(deps, workspace)
    if (busy === null) return
    if (deps.clock.nowMs() >= until) throw new DomainError('BUSY', { turn: busy })
    await sleep(LOOK_AGAIN_MS)
  }
}

/** An open turn whose agent lives and has a tool running or was heard of just now. */
function findBusy(deps: QuietDeps, workspace: Workspace): TurnId | null {
  const now = deps.clock.nowMs()
  const busy = deps.log.listOpenTurns(workspace.id).find((turn) => isBusy(turn, now))
  return busy?.turn ?? null
}

function isBusy(turn: TurnRow, nowMs: number): boolean {
  const wasHeard = turn.lastEventMs !== null && nowMs - turn.lastEventMs < BUSY_MS
  return (turn.toolsInFlight > 0 || wasHeard) && (turn.agentPid === null || isAlive(turn.agentPid))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process can not be asked, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
