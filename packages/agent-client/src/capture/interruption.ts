import type { CaptureDeps } from '#capture-ports.ts'
import type { TurnRow, Workspace } from '#ports.ts'

type Deps = Pick<CaptureDeps, 'log' | 'captureLog' | 'agents' | 'transcripts'>

/** What an agent was told to stop may write for this long after it wrote so down. */
const STOPPING_MS = 250
/** A hook that the interruption itself set off may come in after it. */
const LATE_MS = 2000

/**
 * No agent's hook tells of Esc, but some write it into their transcript (contract rule 10). Of open turns of which that
 * is so it is written down: their tools are not in flight any more, and nobody waits for them.
 */
export function noteInterruptions(deps: Deps, workspace: Workspace, session: string | null = null): void {
  for (const turn of deps.log.listOpenTurns(workspace.id)) {
    if (session !== null && turn.session !== session) continue
    const atMs = findInterruption(deps, turn)
    if (atMs === null) continue
    deps.log.transact(() => {
      const nextScan = deps.captureLog.peekScan(workspace.id)
      const nothing = { tool: null, command: null, paths: [], outside: [] }
      const event = {
        turn: turn.turn,
        type: 'turn.end',
        atMs: atMs + STOPPING_MS,
        nextScan,
        ...nothing,
      } as const
      deps.captureLog.insertEvent(event)
      deps.agents.markInterrupted(turn.turn, atMs)
    })
  }
}

function findInterruption({ transcripts }: Deps, turn: TurnRow): number | null {
  const { transcript, interruptedMs, lastEventMs, startedAt } = turn
  if (transcript === null || interruptedMs !== null) return null
  const atMs = transcripts.find(turn.agent, transcript)?.interruptedMs ?? null
  if (atMs === null || atMs < Date.parse(startedAt)) return null
  return atMs + LATE_MS < (lastEventMs ?? 0) ? null : atMs
}
