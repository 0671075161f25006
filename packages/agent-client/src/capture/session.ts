import { type Closing, decideTurn, type OpenTurn, type SessionState } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { AgentProcess, TurnRow, Workspace } from '#ports.ts'

/** What a session has open here, and what core decides by. */
export interface Session {
  readonly open: TurnRow | null
  /** The turn that it closed last. */
  readonly closed: TurnRow | null
  readonly state: SessionState
}

/** An open turn, and how it is to be closed. */
export interface PlannedClose {
  readonly row: TurnRow
  readonly closing: Closing
}

/** What is looked at to tell whether a turn's agent is still there. */
type Sight = Pick<CaptureDeps, 'processes'>

export function findSession(
  deps: Pick<CaptureDeps, 'log' | 'captureLog' | 'processes'>,
  workspace: Workspace,
  session: string,
): Session {
  const open = deps.log.listOpenTurns(workspace.id).find((turn) => turn.session === session) ?? null
  const closed = deps.captureLog.findLastClosed(workspace.id, session)
  return {
    open,
    closed,
    state: {
      open: open === null ? null : toOpenTurn(deps, open),
      closed:
        closed === null || closed.endedAt === null
          ? null
          : { key: closed.key, endedMs: Date.parse(closed.endedAt) },
    },
  }
}

export function toOpenTurn(deps: Sight, row: TurnRow): OpenTurn {
  const { key, lastEventMs, toolsInFlight, interruptedMs } = row
  const isInterrupted = interruptedMs !== null
  return { key, lastEventMs, toolsInFlight, agent: sightOf(deps, row), isInterrupted }
}

function sightOf({ processes }: Sight, { agentProcess, boot }: TurnRow): OpenTurn['agent'] {
  if (boot !== null && boot !== processes.boot()) return 'gone'
  if (agentProcess === null) return 'unknown'
  if (processes.isOutOfSight(agentProcess)) return 'unknown'
  return processes.isAlive(agentProcess) ? 'lives' : 'gone'
}

/** Open turns that nobody is going to end, of all sessions but one. */
export function listAbandoned(
  deps: Pick<CaptureDeps, 'log' | 'processes' | 'clock'>,
  workspace: Workspace,
  except: string | null,
): PlannedClose[] {
  const nowMs = deps.clock.nowMs()
  return deps.log.listOpenTurns(workspace.id).flatMap((row) => {
    if (row.session === except && except !== null) return []
    const { close } = decideTurn({ open: toOpenTurn(deps, row), closed: null }, { type: 'look-after', nowMs })
    return close === null ? [] : [{ row, closing: close }]
  })
}

/** The process that a session was last known by, if it lives: news that names none is of the same agent. */
export function findAgentBefore({ processes }: Sight, { open, closed }: Session): number | null {
  const before = open?.agentProcess ?? closed?.agentProcess ?? null
  if (before === null || processes.isOutOfSight(before)) return null
  return processes.isAlive(before) ? before.pid : null
}

/** The process that an adapter named, if it is there: one that is not would make the turn look left behind. */
export function findAgent(deps: Sight, pid: number | null): AgentProcess | null {
  return pid === null ? null : deps.processes.find(pid)
}
