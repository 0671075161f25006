import { makeId, type TurnId } from '@turnback/core'
import { describe, expect, test } from 'vitest'
import type { Workspace } from '#ports.ts'
import { waitForQuiet } from './quiet.ts'

const TURN: TurnId = makeId('t', 1, new Uint8Array(10))
const workspace: Workspace = {
  id: makeId('w', 1, new Uint8Array(10)),
  root: '/w',
  device: '1',
  inode: '1',
  name: 'w',
  project: null,
  createdAt: '2026-01-01T00:00:00.000Z',
}

/** A clock that is two seconds later each time it is read, and a turn that is busy until some moment. */
function clientUntil(busyUntilMs: number): { deps: Parameters<typeof waitForQuiet>[0]; asked: () => number } {
  let nowMs = -2000
  let asked = 0
  const clock = {
    nowMs() {
      nowMs += 2000
      return nowMs
    },
  }
  const capture = {
    findBusy() {
      asked++
      return nowMs < busyUntilMs ? TURN : null
    },
  }
  return { deps: { clock, capture }, asked: () => asked }
}

describe('waitForQuiet', () => {
  test('does not wait when nothing is busy', async () => {
    const { deps, asked } = clientUntil(0)
    await waitForQuiet(deps, workspace, null)
    expect(asked()).toBe(1)
  })

  test('looks again until it is quiet', async () => {
    const { deps, asked } = clientUntil(3000)
    const told: TurnId[] = []
    await waitForQuiet(deps, workspace, null, (turn) => told.push(turn))
    expect(asked()).toBeGreaterThan(1)
    expect(told, 'and says once what for').toEqual([TURN])
  })

  test('gives up after ten seconds and names the turn', async () => {
    const { deps } = clientUntil(60_000)
    await expect(waitForQuiet(deps, workspace, null)).rejects.toMatchObject({
      code: 'BUSY',
      details: { turn: TURN },
    })
  })
})
