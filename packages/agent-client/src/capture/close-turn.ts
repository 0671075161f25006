import { type EndReason, invariant, type TurnId } from '@turnback/core'
import type { CaptureDeps, Observation } from '#capture-ports.ts'
import type { GitState, Lease, TurnRow, Workspace } from '#ports.ts'
import { countEntries, toEntries } from './entries.ts'
import { lookAtTree } from './look.ts'
import type { PlannedClose } from './session.ts'
import { signClosedTurns } from './sign-turns.ts'

/** What the last look at the tree saw, and its number. */
export interface Seen {
  readonly scan: number
  readonly observation: Pick<Observation, 'incomplete'>
  readonly git: Pick<GitState, 'head' | 'branch'>
}

export interface Ending {
  readonly endReason: EndReason | null
  readonly lateEnd: boolean
  readonly lastMessage: string | null
}

/** Closes a turn in the log; its manifest is signed afterwards. Inside a transaction, after its last scan was recorded. */
export function closeTurn(deps: CaptureDeps, turn: TurnId, ending: Ending, seen: Seen): TurnRow {
  const open = getTurn(deps, turn)
  deps.captureLog.closeTurn({
    turn,
    endedAt: new Date(deps.clock.nowMs()).toISOString(),
    ...ending,
    endScan: seen.scan,
    incomplete: seen.observation.incomplete,
    headAfter: seen.git.head,
    branch: seen.git.branch,
    skipped: deps.captureLog.summariseKnown(open.workspace).skipped.length,
    ...countEntries(toEntries(deps.captureLog.listChangesOf(open))),
  })
  return getTurn(deps, turn)
}

/** Closes turns whose agents sent no end of their own. As {@link closeTurn}. */
export function closePlanned(deps: CaptureDeps, planned: readonly PlannedClose[], seen: Seen): void {
  for (const { row, closing } of planned) {
    const { reason, lateEnd } = closing
    closeTurn(deps, row.turn, { endReason: reason, lateEnd, lastMessage: null }, seen)
  }
}

export function turnsOf(planned: readonly PlannedClose[]): ReadonlySet<TurnId> {
  return new Set(planned.map(({ row }) => row.turn))
}

/** Looks at the tree and closes turns that their agent did not end (contract rule 2). */
export async function closeTurnsByUs(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  planned: readonly PlannedClose[],
): Promise<TurnId[]> {
  if (planned.length === 0) return []
  const late = turnsOf(planned)
  const looked = await lookAtTree(deps, lease, workspace, { countExcluded: false, deadlineMs: null, late })
  deps.log.transact(() => closePlanned(deps, planned, { ...looked, scan: looked.record().scan }))
  if (deps.afterEnd === null) await signClosedTurns(deps, workspace)
  else deps.afterEnd(workspace, null)
  return [...late]
}

export function getTurn(deps: Pick<CaptureDeps, 'log'>, turn: TurnId): TurnRow {
  const row = deps.log.findTurn(turn)
  invariant(row !== null, 'the turn is in the log')
  return row
}
