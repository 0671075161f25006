import { describe, expect, it } from 'vitest'
import {
  chooseCut,
  type KeptRestore,
  type KeptTurn,
  listCleanCuts,
  listKeepers,
  RETENTION_RULES,
} from './retention.ts'

const DAY = 86_400_000
const NOW = 100 * DAY

/** A turn from scan to scan that ended so many days ago. */
function turn(
  beginScan: number,
  endScan: number | null,
  daysAgo: number,
  more: Partial<KeptTurn> = {},
): KeptTurn {
  const endedMs = endScan === null ? null : NOW - daysAgo * DAY
  const fixed = { turn: `t_${beginScan}`, kind: 'agent', isPinned: false, isSent: true } as const
  return { ...fixed, beginScan, endScan, endedMs, ...more }
}

function restore(scan: number, needs: number, daysAgo: number): KeptRestore {
  return { turn: `t_${scan}`, scan, needs, endedMs: NOW - daysAgo * DAY }
}

const restoreTurn = (scan: number, daysAgo: number, more: Partial<KeptTurn> = {}) =>
  turn(scan, scan, daysAgo, { kind: 'restore', ...more })

const wish = (days: number, turns = 1000) => ({ beforeMs: NOW - days * DAY, turns })

const cutOf = (
  turns: KeptTurn[],
  restores: KeptRestore[] = [],
  wanted = wish(14),
  without?: string,
): number | null => {
  const rules = Object.entries(RETENTION_RULES).filter(([name]) => name !== without)
  return chooseCut({ turns, restores, nowMs: NOW }, wanted, Object.fromEntries(rules))
}

it('names what keeps a log from being cut, the earliest first', () => {
  const sent = [turn(1, 2, 40), turn(3, 4, 30), turn(5, 6, 1)]
  const keepers = (turns: readonly KeptTurn[], restores: readonly KeptRestore[] = []) =>
    listKeepers({ turns, restores, nowMs: NOW })
  expect(keepers([])).toEqual([])
  expect(keepers(sent)).toEqual(['newestTurns'])
  expect(keepers([turn(1, 2, 40, { isSent: false }), ...sent.slice(1)])).toEqual(['unsentTurns'])
  const young = [turn(1, 2, 40), turn(3, null, 0), restoreTurn(6, 1, { isPinned: true }), turn(7, 8, 1)]
  expect(keepers(young, [restore(6, 2, 1)])).toEqual(['youngRestores', 'pinnedRestores', 'openTurns'])
})

describe('where a log can be cut', () => {
  it('at ends of turns that no turn and no restore straddles', () => {
    const turns = [
      turn(1, 2, 9),
      turn(2, 8, 8),
      turn(3, 4, 7),
      turn(8, 9, 6),
      restoreTurn(11, 5),
      turn(11, 12, 4),
    ]
    expect(listCleanCuts({ turns, restores: [] })).toEqual([2, 8, 9, 11, 12])
    expect(listCleanCuts({ turns, restores: [restore(11, 9, 5)] })).toEqual([2, 8, 11, 12])
    expect(listCleanCuts({ turns: [...turns, turn(4, null, 0)], restores: [] })).toEqual([2])
  })
})

describe('what is removed', () => {
  const old = [turn(1, 2, 40), turn(3, 4, 30), turn(5, 6, 20), turn(7, 8, 10), turn(9, 10, 1)]

  it('by age: the turns at the beginning that are all old enough', () => {
    expect(cutOf(old)).toBe(6)
    expect(cutOf(old, [], wish(35))).toBe(2)
    expect(cutOf(old, [], wish(50))).toBeNull()
    // One that is younger than those after it keeps them.
    expect(cutOf([turn(1, 2, 40), turn(3, 4, 5), turn(5, 6, 20), turn(7, 8, 1)])).toBe(2)
  })

  it('by number of turns', () => {
    expect(cutOf(old, [], wish(50, 3))).toBe(4)
    expect(cutOf(old, [], wish(35, 3)), 'whichever takes more').toBe(4)
    expect(cutOf(old, [], wish(50, 0)), 'as much as can be').toBe(8)
  })

  it.each([
    ['openTurns', [turn(1, 2, 40), turn(3, null, 0), turn(4, 5, 30), turn(6, 7, 1)], [], 2, 2],
    ['newestTurns', [turn(1, 2, 40), turn(3, 4, 30)], [], 2, 4],
    ['newestTurns', [turn(1, 2, 40), turn(3, 4, 30), turn(4, 5, 20, { kind: 'outside' })], [], 2, 5],
    [
      'unsentTurns',
      [turn(1, 2, 40), turn(3, 4, 30, { isSent: false }), turn(5, 6, 20), turn(7, 8, 1)],
      [],
      2,
      6,
    ],
    [
      'youngRestores',
      [turn(1, 2, 40), turn(3, 4, 30), restoreTurn(6, 13), turn(7, 8, 1)],
      [restore(6, 4, 13)],
      2,
      4,
    ],
    [
      'pinnedRestores',
      [turn(1, 2, 60), turn(3, 4, 50), restoreTurn(6, 40, { isPinned: true }), turn(7, 8, 1)],
      [restore(6, 4, 40)],
      2,
      6,
    ],
  ] as const)('never by the rule %s, and without it', (rule, turns, restores, kept, without) => {
    expect(cutOf([...turns], [...restores])).toBe(kept)
    // A restore also holds what it took away by being one piece with it; here it is old enough to go whole.
    const free = rule === 'youngRestores' ? [restore(6, 6, 13)] : [...restores]
    expect(cutOf([...turns], free, wish(14), rule)).toBe(without)
  })
})
