import { makeId } from '@turnback/core'
import { describe, expect, test } from 'vitest'
import type { TurnRow, Workspace } from '#ports.ts'
import { waitForQuiet } from './quiet.ts'

const id = <P extends 't' | 'w'>(prefix: P) => makeId(prefix, 1, new Uint8Array(10))
const workspace: Workspace = {
  id: id('w'),
  root: '/w',
  device: '1',
  inode: '1',
  name: 'w',
  project: null,
  createdAt: '2026-01-01T00:00:00.000Z',
}

const ROW: TurnRow = {
  turn: id('t'),
  workspace: workspace.id,
  number: 1,
  kind: 'agent',
  session: 'A',
  key: null,
  agent: null,
  prompt: null,
  label: null,
  task: null,
  startedAt: workspace.createdAt,
  endedAt: null,
  endReason: null,
  isOpen: true,
  pinned: false,
  beginScan: 1,
  endScan: null,
  headBefore: null,
  headAfter: null,
  branch: null,
  paths: null,
  lastEventMs: null,
  toolsInFlight: 0,
  agentPid: null,
  entries: 0,
  created: 0,
  changed: 0,
  deleted: 0,
  skipped: 0,
}

/** A clock that is two seconds later each time it is read, and one open turn. */
function clientWith(turn: Pick<TurnRow, 'lastEventMs' | 'toolsInFlight' | 'agentPid'> | null): {
  deps: Parameters<typeof waitForQuiet>[0]
  reads: () => number
} {
  let reads = 0
  const open = turn === null ? [] : [{ ...ROW, ...turn }]
  const deps = { clock: { nowMs: () => reads++ * 2_000 }, log: { listOpenTurns: () => open } }
  return { deps, reads: () => reads }
}

const here = { agentPid: process.pid }
const gone = { agentPid: 2 ** 22 + 1 }

describe('waitForQuiet', () => {
  test('a plain begin is never busy, nor a tree without open turns', async () => {
    for (const turn of [null, { ...here, lastEventMs: null, toolsInFlight: 0 }]) {
      const { deps, reads } = clientWith(turn)
      await waitForQuiet(deps, workspace)
      expect(reads(), 'no second look').toBeLessThanOrEqual(2)
    }
  })

  test('an agent that was heard of just now is waited for', async () => {
    const { deps } = clientWith({ ...here, lastEventMs: 0, toolsInFlight: 0 })
    await waitForQuiet(deps, workspace)
  })

  test('a tool that does not end is busy after ten seconds', async () => {
    const { deps } = clientWith({ ...here, lastEventMs: 0, toolsInFlight: 1 })
    await expect(waitForQuiet(deps, workspace)).rejects.toMatchObject({ code: 'BUSY' })
  })

  test('an agent whose process is gone is not at work', async () => {
    const { deps } = clientWith({ ...gone, lastEventMs: 0, toolsInFlight: 1 })
    await waitForQuiet(deps, workspace)
  })
})
