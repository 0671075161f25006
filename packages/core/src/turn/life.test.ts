import { describe, expect, test } from 'vitest'
import { SeededRandom } from '#testing/random.ts'
import { type Decision, decideTurn, isAbandoned, isBusy, type OpenTurn, type TurnEvent } from './life.ts'

const NOW = 1_000_000_000
const MINUTE = 60_000
const open = (part: Partial<OpenTurn> = {}): OpenTurn => ({
  key: 'k',
  lastEventMs: NOW - MINUTE,
  toolsInFlight: 0,
  agent: 'lives',
  ...part,
})
const plain = open({ key: null, lastEventMs: null, agent: 'unknown' })
const decide = (
  turn: OpenTurn | null,
  event: TurnEvent,
  closed: { key: string; endedMs: number } | null = null,
) => decideTurn({ open: turn, closed }, event)

/** `superseded late, open k2 late, note`: a decision at a glance. */
function words({ close, open: opened, note, error }: Decision): string {
  const parts = [
    error,
    close === null ? null : `${close.reason}${close.lateEnd ? ' late' : ''}`,
    opened === null ? null : `open ${opened.key}${opened.lateStart ? ' late' : ''}`,
    note ? 'note' : null,
  ].filter((part) => part !== null)
  return parts.length === 0 ? '–' : parts.join(', ')
}

const at = (type: 'turn.start' | 'tool.before' | 'tool.after', key: string | null, atMs = NOW) =>
  ({ type, key, atMs }) as const
const begin = (key: string | null) => ({ type: 'begin', key }) as const
const end = (key: string | null) => ({ type: 'end', key, reason: 'completed' }) as const
const ended = (key: string | null) => ({ type: 'turn.end', key, reason: 'interrupted' }) as const
const look = { type: 'look-after', nowMs: NOW } as const

describe('decideTurn', () => {
  const gone = open({ agent: 'gone' })
  const table: [string, OpenTurn | null, TurnEvent, string][] = [
    ['the first begin opens', null, begin('k'), 'open k'],
    ['the same key is the same turn', open(), begin('k'), '–'],
    ['another key closes and opens', open(), begin('k2'), 'superseded late, open k2'],
    ['no key is another turn', open(), begin(null), 'superseded late, open null'],
    ['no key after no key is another turn too', plain, begin(null), 'superseded, open null'],
    [
      'a turn without events is not closed late',
      open({ lastEventMs: null }),
      begin('k2'),
      'superseded, open k2',
    ],
    ['what a dead agent left is lost, not superseded', gone, begin('k2'), 'lost late, open k2'],
    ['the same key goes on though the process is another one', gone, begin('k'), '–'],
    ['news of the open turn is noted', open(), at('tool.before', 'k'), 'note'],
    ['news without a key is of the open turn', open(), at('tool.after', null), 'note'],
    ['a queued prompt is news of the running turn', open(), at('turn.start', 'k'), 'note'],
    ['news of an unknown turn opens it late', null, at('tool.before', 'k'), 'open k late, note'],
    ['its own start is on time', null, at('turn.start', 'k'), 'open k, note'],
    ['the next turn closes this one', open(), at('tool.before', 'k2'), 'superseded late, open k2 late, note'],
    ['an end closes what it names', open(), end('k'), 'completed'],
    ['an end without a key closes what is open', open(), end(null), 'completed'],
    ['an end of another key is refused', open(), end('k2'), 'NO_OPEN_TURN'],
    ['an end of a turn that has no key, by a key, is refused', plain, end('k'), 'NO_OPEN_TURN'],
    ['an end of nothing is refused', null, end(null), 'NO_OPEN_TURN'],
    ['an end counts also after the process has gone', gone, end('k'), 'completed'],
    ['news of an end closes what it names', open(), ended('k'), 'interrupted, note'],
    ['news of the end of nothing is nothing', null, ended('k'), '–'],
    ['news of the end of another turn is nothing', open(), ended('k2'), '–'],
    ['the session’s end closes whatever is open', open(), { type: 'session.end' }, 'lost late'],
    ['the session’s end of nothing is nothing', null, { type: 'session.end' }, '–'],
    ['a restore interrupts', open(), { type: 'restore' }, 'interrupted late'],
    ['a restore finds what a dead agent left', gone, { type: 'restore' }, 'lost late'],
    ['a restore keeps all of a plain turn in it', plain, { type: 'restore' }, 'interrupted'],
    ['a restore with nothing open', null, { type: 'restore' }, '–'],
    ['nothing open, nothing to look after', null, look, '–'],
    ['a turn at work is left alone', open(), look, '–'],
    ['a turn whose process has gone is lost', gone, look, 'lost late'],
    ['a plain turn whose process has gone too', open({ lastEventMs: null, agent: 'gone' }), look, 'lost'],
    ['a plain turn is never given up for silence', plain, { type: 'look-after', nowMs: NOW * 2 }, '–'],
  ]
  test.each(table)('%s', (_, turn, event, wanted) => {
    expect(words(decide(turn, event))).toBe(wanted)
  })

  test('with the key of a closed turn news opens one that continues it, unless the news is older than the close', () => {
    const closed = { key: 'k', endedMs: NOW }
    expect(words(decide(null, begin('k'), closed))).toBe('open k')
    expect(words(decide(null, at('tool.after', 'k', NOW), closed))).toBe('open k late, note')
    expect(words(decide(null, at('tool.after', 'k', NOW - 1), closed))).toBe('–')
    expect(words(decide(null, at('tool.after', 'other', NOW - 1), closed))).toBe('open other late, note')
    expect(words(decide(null, at('tool.after', null, NOW - 1), closed))).toBe('open null late, note')
  })
})

describe('isAbandoned', () => {
  const silent = (minutes: number, part: Partial<OpenTurn>) =>
    isAbandoned(open({ ...part, lastEventMs: NOW - minutes * MINUTE }), NOW)

  test('silence counts sooner when nothing says that the agent is still there', () => {
    expect(silent(29, { agent: 'unknown' })).toBe(false)
    expect(silent(31, { agent: 'unknown' })).toBe(true)
    for (const part of [{ agent: 'unknown', toolsInFlight: 1 }, { agent: 'lives' }] as const) {
      expect(silent(119, part)).toBe(false)
      expect(silent(121, part)).toBe(true)
    }
  })

  test('never while a process lives and a tool is in flight; at once when the process has gone', () => {
    expect(silent(10_000, { agent: 'lives', toolsInFlight: 1 })).toBe(false)
    expect(silent(0, { agent: 'gone', toolsInFlight: 1 })).toBe(true)
  })
})

describe('isBusy', () => {
  test('a tool in flight or news of the last ten seconds, unless the agent has gone', () => {
    expect(isBusy(open({ toolsInFlight: 1 }), NOW)).toBe(true)
    expect(isBusy(open({ lastEventMs: NOW - 9_999 }), NOW)).toBe(true)
    expect(isBusy(open({ lastEventMs: NOW - 10_000 }), NOW)).toBe(false)
    expect(isBusy(plain, NOW), 'begin is no news').toBe(false)
    expect(isBusy(open({ agent: 'unknown', toolsInFlight: 1 }), NOW), 'it may live').toBe(true)
    expect(isBusy(open({ agent: 'gone', toolsInFlight: 1, lastEventMs: NOW }), NOW)).toBe(false)
  })
})

/** A turn as a shell that does what is decided would keep it. */
interface Kept {
  readonly key: string | null
  openMs: number
  events: number
  endings: { reason: string; lateEnd: boolean; bySelf: boolean }[]
}

test('whatever happens in whatever order, turns open one at a time and end once', () => {
  const random = new SeededRandom(20_261_130)
  const pick = <T>(list: readonly T[]): T => random.pick(list)
  const seen = new Set<string>()
  for (let round = 0; round < 400; round++) {
    const turns: Kept[] = []
    let state: Parameters<typeof decideTurn>[0] = { open: null, closed: null }
    let now = NOW
    for (let step = 0; step < 40; step++) {
      now += pick([0, 1, 1000, 11_000, 40 * MINUTE, 130 * MINUTE])
      if (state.open !== null)
        state = { ...state, open: { ...state.open, agent: pick(['unknown', 'lives', 'lives', 'gone']) } }
      const event = anyEvent(pick, now)
      const before = state.open
      const decision = decideTurn(state, event)
      seen.add(`${event.type} ${decision.close?.reason} ${decision.open !== null} ${decision.error}`)

      const bySelf = event.type === 'end' || event.type === 'turn.end'
      if (decision.close !== null) {
        expect(before, 'only what is open is closed').not.toBeNull()
        turns.at(-1)?.endings.push({ ...decision.close, bySelf })
        state = { open: null, closed: { key: before?.key ?? null, endedMs: now } }
      }
      if (decision.open !== null) {
        expect(state.open, 'one at a time').toBeNull()
        turns.push({ key: decision.open.key, openMs: now, events: 0, endings: [] })
        state = {
          ...state,
          open: { key: decision.open.key, lastEventMs: null, toolsInFlight: 0, agent: 'unknown' },
        }
      }
      if (decision.note) {
        const turn = turns.at(-1)
        expect(turn !== undefined && (state.open !== null || decision.close !== null)).toBe(true)
        if (turn !== undefined) turn.events++
        const tools = event.type === 'tool.before' ? 1 : 0
        if (state.open !== null)
          state = { ...state, open: { ...state.open, lastEventMs: now, toolsInFlight: tools } }
      }
      // An end that names nothing that is open is refused, and changes nothing.
      const isMeant = before !== null && 'key' in event && (event.key === null || event.key === before.key)
      expect(decision.error).toBe(event.type === 'end' && !isMeant ? 'NO_OPEN_TURN' : null)
      if (decision.error !== null) expect(decision).toMatchObject({ close: null, open: null, note: false })
      // The same key is the same open turn.
      if (isMeant && event.type !== 'end' && event.type !== 'turn.end') {
        if (event.type !== 'begin' || event.key !== null)
          expect([decision.close, decision.open]).toEqual([null, null])
      }
      // A begin leaves a turn of its key open, whatever was before.
      if (event.type === 'begin') expect(state.open?.key).toBe(event.key)
    }
    for (const [index, turn] of turns.entries()) {
      const isLast = index === turns.length - 1
      expect(turn.endings.length, 'each ends once, but for the one that is open').toBe(
        isLast && state.open !== null ? 0 : 1,
      )
      for (const { lateEnd, bySelf, reason } of turn.endings) {
        expect(lateEnd).toBe(!bySelf && turn.events > 0)
        if (bySelf) expect(['completed', 'failed', 'interrupted']).toContain(reason)
        else expect(['superseded', 'lost', 'interrupted']).toContain(reason)
      }
    }
  }
  // The walk has been everywhere: each way to close, with and without a turn that follows.
  for (const way of [
    'begin superseded true',
    'begin lost true',
    'tool.before superseded true',
    'session.end lost false',
    'restore interrupted false',
    'restore lost false',
    'look-after lost false',
    'end failed false',
    'turn.end interrupted false',
  ])
    expect(
      [...seen].some((each) => each.startsWith(way)),
      way,
    ).toBe(true)
})

function anyEvent(pick: <T>(list: readonly T[]) => T, now: number): TurnEvent {
  const key = pick(['k1', 'k2', null])
  const reason = pick(['completed', 'failed', 'interrupted'] as const)
  return pick<TurnEvent>([
    { type: 'begin', key },
    { type: pick(['turn.start', 'tool.before', 'tool.after'] as const), key, atMs: now - pick([0, 5000]) },
    { type: pick(['tool.before', 'tool.after'] as const), key, atMs: now },
    { type: 'turn.end', key, reason },
    { type: 'end', key, reason },
    { type: 'session.end' },
    { type: 'restore' },
    { type: 'look-after', nowMs: now },
  ])
}

test('a turn that its person broke off keeps nobody waiting, and is interrupted whatever comes next', () => {
  const now = Date.parse('2026-11-30T12:00:00Z')
  const open = { key: 'k', lastEventMs: now, toolsInFlight: 1, agent: 'lives', isInterrupted: true } as const
  expect(isBusy(open, now)).toBe(false)
  expect(isBusy({ ...open, isInterrupted: false }, now), 'else it is').toBe(true)
  const events: readonly TurnEvent[] = [
    { type: 'begin', key: 'next' },
    { type: 'turn.start', key: 'next', atMs: now },
    { type: 'session.end' },
    { type: 'restore' },
    { type: 'look-after', nowMs: now },
  ]
  for (const event of events) {
    for (const agent of ['lives', 'gone', 'unknown'] as const) {
      const { close } = decideTurn({ open: { ...open, agent }, closed: null }, event)
      expect(close).toEqual({ reason: 'interrupted', lateEnd: true })
    }
  }
})
