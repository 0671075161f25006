import { type EndReason, invariant, type TurnId } from '@turnback/core'
import type { CaptureDeps, Observation } from '#capture-ports.ts'
import type { GitState, TurnRow } from '#ports.ts'
import { countEntries, toEntries } from './entries.ts'

export interface Closing {
  readonly endReason: EndReason | null
  readonly lateEnd: boolean
  readonly lastMessage: string | null
  readonly endScan: number
  readonly incomplete: string | null
  readonly headAfter: string | null
  readonly branch: string | null
}

/** Closes a turn in the log; its manifest is signed afterwards. Inside a transaction, after its last scan was recorded. */
export function closeTurn(deps: CaptureDeps, turn: TurnId, closing: Closing): TurnRow {
  const open = getTurn(deps, turn)
  deps.captureLog.closeTurn({
    turn,
    endedAt: new Date(deps.clock.nowMs()).toISOString(),
    ...closing,
    skipped: deps.captureLog.summariseKnown(open.workspace).skipped.length,
    ...countEntries(toEntries(deps.captureLog.listChangesOf(open))),
  })
  return getTurn(deps, turn)
}

/** How a turn is closed by us: its agent sent no end of its own (contract rule 2). */
export function closingByUs(
  turn: TurnRow,
  endReason: EndReason,
  seen: { readonly scan: number; readonly observation: Observation; readonly git: GitState },
): Closing {
  return {
    endReason,
    lateEnd: turn.lastEventMs !== null,
    lastMessage: null,
    endScan: seen.scan,
    incomplete: seen.observation.incomplete,
    headAfter: seen.git.head,
    branch: seen.git.branch,
  }
}

export function getTurn(deps: Pick<CaptureDeps, 'log'>, turn: TurnId): TurnRow {
  const row = deps.log.findTurn(turn)
  invariant(row !== null, 'the turn is in the log')
  return row
}
