import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('usage')
})
afterEach(() => rig.dispose())

const usage = async () => (await runHere(rig.env, rig.root, ['usage'], rig.deps)).json

test('usage counts contents, copies and what lies on the disk, by workspace', async () => {
  const shared = 'bytes that both trees have\n'.repeat(100)
  rig.write('a', 'x'.repeat(1_000))
  rig.write('same', shared)
  rig.write('again', shared)
  await rig.init()
  await rig.turn(() => rig.write('a', 'y'.repeat(2_000)))
  await rig.turn(() => rig.write('a', 'x'.repeat(1_000)))
  const first = rig.root
  rig.useTree('other')
  rig.write('same', shared)
  await rig.init()
  const { workspaces, total, unused, disk } = (await usage()) as {
    workspaces: Record<string, unknown>[]
    total: { blobs: number; contentBytes: number; storedBytes: number }
    unused: object
    disk: { bytes: number; budget: number }
  }
  const one = {
    blobs: 3,
    contentBytes: 3_000 + shared.length,
    turns: 2,
    files: 3,
    pinnedTurns: 0,
    removedTurns: 0,
  }
  // The tree as it is, and what the two turns wrote over.
  const originalBytes = 1_000 + 2 * shared.length + 1_000 + 2_000
  expect(workspaces).toMatchObject([
    { root: first, ...one, originalBytes, oldestTurn: { number: 1 } },
    { root: rig.root, blobs: 1, contentBytes: shared.length, turns: 0, ownBytes: 0, oldestTurn: null },
  ])
  expect(total).toMatchObject({ blobs: 3, contentBytes: 3_000 + shared.length })
  expect(unused).toEqual({ blobs: 0, contentBytes: 0, storedBytes: 0 })
  expect(Number(workspaces[0]?.ownBytes)).toBeLessThan(Number(workspaces[0]?.storedBytes))
  expect(total.storedBytes).toBe(workspaces[0]?.storedBytes)
  const store = join(rig.top, 'home', 'store')
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.pack$|^turnback\.db/.test(entry.name),
  )
  const bytes = files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  expect(disk.bytes).toBe(bytes)
  expect(disk.budget).toBe(5 * 1024 ** 3)
})
