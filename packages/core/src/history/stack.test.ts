import { describe, expect, it } from 'vitest'
import { textFile } from '#testing/index.ts'
import { ABSENT } from '#tree/state.ts'
import type { Change, RestoreEvent } from './change.ts'
import { liveStacks } from './stack.ts'

const change = (scan: number, kind: Change['kind'] = 'agent'): Change => ({
  path: 'a',
  scan,
  turn: 't_1',
  kind,
  session: 'A',
  source: 'tool',
  sharedBy: [],
  before: textFile(`${scan - 1}`),
  after: textFile(`${scan}`),
})
const event = (
  scan: number,
  popped: number[],
  putBack: number[] = [],
  pushed: RestoreEvent['pushed'] = [],
): RestoreEvent => ({
  turn: `t_${scan}`,
  scan,
  popped: popped.map((at) => ({ path: 'a', scan: at })),
  putBack: putBack.map((at) => ({ path: 'a', scan: at })),
  pushed,
})
const scans = (...args: Parameters<typeof liveStacks>): number[] | undefined =>
  liveStacks(...args)
    .get('a')
    ?.map((item) => item.scan)

describe('liveStacks', () => {
  const changes = [change(3), change(1), change(5)]
  const pushed = [{ path: 'a', before: textFile('5'), after: ABSENT }]

  it('sorts by scan, takes off, puts back at the sorted place, adds what was pushed', () => {
    expect(scans(changes, [])).toEqual([1, 3, 5])
    expect(scans(changes, [event(6, [3], [], pushed)])).toEqual([1, 5, 6])
    expect(scans(changes, [event(7, [6], [3]), event(6, [3], [], pushed)])).toEqual([1, 3, 5])
    expect(scans(changes, [event(6, [3]), event(7, [], [3]), event(8, [3])])).toEqual([1, 5])
  })

  it('a path without live changes is not there', () => {
    expect(liveStacks(changes, [event(6, [1, 3, 5])]).size).toBe(0)
  })

  it('shows the stacks as they were right after a scan', () => {
    const events = [event(4, [1, 3]), event(6, [5], [1])]
    expect(scans(changes, events, 3)).toEqual([1, 3])
    expect(scans(changes, events, 4)).toBeUndefined()
    expect(scans(changes, events, 5)).toEqual([5])
    expect(scans(changes, events)).toEqual([1])
  })

  it('a pushed change is a person’s, and a restore’s own entries are not counted twice', () => {
    const stacks = liveStacks([...changes, change(6, 'restore')], [event(6, [3], [], pushed)])
    expect(stacks.get('a')?.at(-1)).toMatchObject({
      scan: 6,
      kind: 'restore',
      session: null,
      source: 'outside',
    })
    expect(stacks.get('a')).toHaveLength(3)
  })
})
