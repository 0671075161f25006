import type { BigIntStats } from 'node:fs'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { playCase, treeCase } from './support/case-of-tree.ts'
import { Editor } from './support/random-tree.ts'

// The client as it would be if it did not look at the time of change: the one thing that nobody can set back.
vi.mock('#worktree/stamp.ts', async (original) => ({
  ...(await original<object>()),
  stampOf: ({ dev, ino, size, mtimeNs, mode }: BigIntStats) => `${dev}:${ino}:${size}:${mtimeNs}:${mode}`,
  isRacy: () => false,
}))

test('a client that takes size and modification time for proof is found out', {
  timeout: 600_000,
}, async () => {
  const rig = new CaptureRig('control', false)
  const editor = new Editor()
  try {
    const property = fc.asyncProperty(treeCase, (whole) => playCase(rig, editor, whole))
    const result = await fc.check(property, { numRuns: 500, endOnFailure: true })
    expect(result.failed).toBe(true)
    // It is the bytes that it misses, not that the test itself broke.
    expect(String(result.errorInstance)).toMatch(/AssertionError/)
  } finally {
    editor.close()
    rig.dispose()
  }
})
