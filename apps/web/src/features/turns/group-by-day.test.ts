import { expect, it } from 'vitest'
import { groupByDay } from './group-by-day.ts'

const at = (turn: string, endedAt: string) => ({ turn, endedAt })

it('groups runs of one day by the reader’s zone', () => {
  const turns = [
    at('c', '2026-11-30T00:30:00.000Z'),
    at('b', '2026-11-29T23:30:00.000Z'),
    at('a', '2026-11-29T10:00:00.000Z'),
  ]
  const days = (zone: string) =>
    groupByDay(turns, zone).map((group) => group.turns.map(({ turn }) => turn).join(''))
  expect(days('UTC')).toEqual(['c', 'ba'])
  expect(days('Europe/Berlin')).toEqual(['cb', 'a'])
})

it('keeps the list’s order when turns of an earlier day were sent late', () => {
  const groups = groupByDay(
    [
      at('c', '2026-11-30T09:00:00.000Z'),
      at('b', '2026-11-28T09:00:00.000Z'),
      at('a', '2026-11-30T08:00:00.000Z'),
    ],
    'UTC',
  )
  expect(groups.map(({ turns }) => turns.length)).toEqual([1, 1, 1])
  expect(new Set(groups.map(({ key }) => key)).size).toBe(3)
})
