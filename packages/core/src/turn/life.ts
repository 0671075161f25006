import { limits } from '#limits.ts'
import type { EndReason } from '#manifest/manifest.ts'

/**
 * The life of a turn as values (contract rules 2 and 10): what is open in a session, and something that happens, give
 * what is to be done. Who calls does it, and supplies what only effects can tell: the time, and whether a process lives.
 */

/** Of an agent's process: nobody named it; it lives; it has ended, or the machine was started anew since. */
export type AgentSight = 'unknown' | 'lives' | 'gone'

export interface OpenTurn {
  /** The agent's own name of the turn, or null. */
  readonly key: string | null
  /** When an event last told of it, in milliseconds since 1970. Null when none did: a turn of plain `begin` and `end`. */
  readonly lastEventMs: number | null
  /** Tools that began and did not end, as far as was heard. */
  readonly toolsInFlight: number
  readonly agent: AgentSight
  /** The agent wrote down that its person broke the turn off: nobody is going to end it. */
  readonly isInterrupted?: boolean
}

/** What one session has in one workspace. */
export interface SessionState {
  readonly open: OpenTurn | null
  /** The turn that it closed last, or null. */
  readonly closed: { readonly key: string | null; readonly endedMs: number } | null
}

/** How an agent ends a turn itself. */
export type OwnEnd = Extract<EndReason, 'completed' | 'failed' | 'interrupted'>

export type TurnEvent =
  /** The command that says a turn begins. */
  | { readonly type: 'begin'; readonly key: string | null }
  /** News of a turn, of the moment `atMs`. */
  | {
      readonly type: 'turn.start' | 'tool.before' | 'tool.after'
      readonly key: string | null
      readonly atMs: number
    }
  /** News that a turn ended, and the command that says so; they differ only when there is nothing to end. */
  | { readonly type: 'turn.end' | 'end'; readonly key: string | null; readonly reason: OwnEnd }
  /** The session ends, whatever it has open. */
  | { readonly type: 'session.end' }
  /** A restore wants quiet, and has it. */
  | { readonly type: 'restore' }
  /** Somebody looks after turns that were left behind: after a start, or every now and then. */
  | { readonly type: 'look-after'; readonly nowMs: number }

export interface Closing {
  readonly reason: EndReason
  /** True when not the agent sent the end, of a turn that was heard of by events (contract rule 2). */
  readonly lateEnd: boolean
}

/** What is to be done, in this order: close, open, note. */
export interface Decision {
  readonly close: Closing | null
  readonly open: { readonly key: string | null; readonly lateStart: boolean } | null
  /** The news is written down for the turn that was opened, else for the one that was open. */
  readonly note: boolean
  /** Said to who asked; nothing is done then. */
  readonly error: 'NO_OPEN_TURN' | null
}

const NOTHING: Decision = { close: null, open: null, note: false, error: null }

/**
 * Decides what something that happens does to a session's turn.
 * - The same key is the same open turn. Another one, or none, on `begin` closes what is open.
 * - News of a turn that is not open opens it, as one that began late; its own start is on time. News from before that
 *   turn's close does not: it only came late.
 * - A turn that its person broke off, as the agent's transcript says, is `interrupted`, whatever comes next.
 * - A turn that is left behind is `lost` as soon as anything shows that its agent is gone; else what comes next decides.
 */
export function decideTurn({ open, closed }: SessionState, event: TurnEvent): Decision {
  switch (event.type) {
    case 'begin': {
      if (open !== null && open.key !== null && open.key === event.key) return NOTHING
      return { ...NOTHING, close: replaced(open), open: { key: event.key, lateStart: false } }
    }
    case 'turn.start':
    case 'tool.before':
    case 'tool.after': {
      if (open !== null && isMeant(open, event.key)) return { ...NOTHING, note: true }
      const isOld = closed !== null && event.key !== null && closed.key === event.key
      if (isOld && event.atMs < closed.endedMs) return NOTHING
      const opening = { key: event.key, lateStart: event.type !== 'turn.start' }
      return { ...NOTHING, close: replaced(open), open: opening, note: true }
    }
    case 'turn.end':
      if (open === null || !isMeant(open, event.key)) return NOTHING
      return { ...NOTHING, close: { reason: event.reason, lateEnd: false }, note: true }
    case 'end':
      if (open === null || !isMeant(open, event.key)) return { ...NOTHING, error: 'NO_OPEN_TURN' }
      return { ...NOTHING, close: { reason: event.reason, lateEnd: false } }
    case 'session.end':
      // Not noted: what changed between the last event and this one is not the agent's for its sake.
      return open === null ? NOTHING : { ...NOTHING, close: leftBehind(open, lostOr(open, 'lost')) }
    case 'restore':
      return open === null ? NOTHING : { ...NOTHING, close: leftBehind(open, lostOr(open, 'interrupted')) }
    case 'look-after':
      return open === null || !isAbandoned(open, event.nowMs)
        ? NOTHING
        : { ...NOTHING, close: leftBehind(open, lostOr(open, 'lost')) }
  }
}

/**
 * True when nobody is going to end the turn: its agent is gone, or was silent for too long. A turn without any event
 * is never given up for its silence: who begins and ends by hand may take all day.
 */
export function isAbandoned(open: OpenTurn, nowMs: number): boolean {
  if (open.agent === 'gone' || open.isInterrupted) return true
  if (open.lastEventMs === null) return false
  const lives = open.agent === 'lives'
  const works = open.toolsInFlight > 0
  if (lives && works) return false
  const seconds = lives || works ? limits.turnIdleAtWorkSeconds : limits.turnIdleSeconds
  return nowMs - open.lastEventMs > seconds * 1000
}

/**
 * True when a restore has to wait for the turn (contract rule 10): its agent may live, and has a tool in flight or was
 * heard of by an event just now.
 */
export function isBusy(open: OpenTurn, nowMs: number): boolean {
  if (open.agent === 'gone' || open.isInterrupted) return false
  const wasHeard = open.lastEventMs !== null && nowMs - open.lastEventMs < limits.busyEventSeconds * 1000
  return open.toolsInFlight > 0 || wasHeard
}

function isMeant(open: OpenTurn, key: string | null): boolean {
  return key === null || open.key === key
}

function replaced(open: OpenTurn | null): Closing | null {
  return open === null ? null : leftBehind(open, lostOr(open, 'superseded'))
}

function lostOr(open: OpenTurn, reason: EndReason): EndReason {
  if (open.isInterrupted) return 'interrupted'
  return open.agent === 'gone' ? 'lost' : reason
}

function leftBehind(open: OpenTurn, reason: EndReason): Closing {
  return { reason, lateEnd: open.lastEventMs !== null }
}
