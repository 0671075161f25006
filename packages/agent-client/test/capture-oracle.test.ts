import { chownSync, existsSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CaptureRig, PLAIN_UID } from './support/capture-rig.ts'
import { playCase, readEntries, type TreeCase, treeCase } from './support/case-of-tree.ts'
import { type Edit, Editor, MODES } from './support/random-tree.ts'

/** `pnpm test:long` asks for more. */
const CASES = Number(process.env.TURNBACK_TEST_CASES ?? 500)
const WITH_WATCHER = Math.ceil(CASES / 20)
/** To play one again: a case that fails says its seed. Making it smaller is slow, so only by wish. */
const MANNER = {
  endOnFailure: process.env.TURNBACK_TEST_SHRINK !== '1',
  ...(process.env.TURNBACK_TEST_SEED === undefined ? {} : { seed: Number(process.env.TURNBACK_TEST_SEED) }),
}
const timeout = 36_000_000

let rig: CaptureRig
let resident: CaptureRig
let editor: Editor
beforeAll(() => {
  // The many trees of a quick run lie in memory, as far as there is such a place.
  if (process.env.TURNBACK_TEST_CASES === undefined && existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  rig = new CaptureRig('oracle', false)
  resident = new CaptureRig('oracle', true)
  // Some edits are read ahead, some are not.
  resident.settleMs = 2
  // Where git's rules for all repositories are looked for.
  process.env.HOME = rig.env.HOME
  delete process.env.XDG_CONFIG_HOME
  becomePlain()
  editor = new Editor()
})
afterAll(() => {
  editor.close()
  becomeAgain()
  rig.dispose()
  resident.dispose()
})

/** Nothing is closed to root, so root plays as somebody else. */
function becomePlain(): void {
  if (PLAIN_UID === undefined) return
  for (const { top } of [rig, resident]) {
    for (const path of [top, ...readdirSync(top).map((name) => `${top}/${name}`)])
      chownSync(path, PLAIN_UID, PLAIN_UID)
  }
  process.setegid?.(PLAIN_UID)
  process.seteuid?.(PLAIN_UID)
}

function becomeAgain(): void {
  if (PLAIN_UID === undefined) return
  process.seteuid?.(0)
  process.setegid?.(0)
}

test(`whatever happens to a tree, the manifests say exactly that (${CASES} trees)`, { timeout }, async () => {
  const property = fc.asyncProperty(treeCase, (whole) => playCase(rig, editor, whole))
  await fc.assert(property, { numRuns: CASES, ...MANNER })
})

/**
 * Nobody tells of a write through a map, nor of one to a file's other name. The look that follows a turn finds what was
 * so written in it; what was between turns it finds later, so there is none of that here.
 * Nor can a client that looks only where something was heard be compared with a walk from the root where a folder may be
 * passed through but not listed: it sees what lies deeper, as it should, and the walk does not.
 */
function withoutUnheard({ tree, turns, ...rest }: TreeCase): TreeCase {
  const isAlone = turns.every(({ outside }) => outside.length === 0)
  const isListed = (edit: Edit) => edit.do !== 'mode' || ((MODES[edit.mode] ?? 0) & 0o500) !== 0o100
  const heard = (edit: Edit): Edit => {
    if (edit.do === 'map') return { ...edit, do: 'overwrite' }
    return edit.do === 'make' && edit.kind === 'hardlink' ? { ...edit, kind: 'file' } : edit
  }
  const part = (edits: readonly Edit[]) => (isAlone ? edits : edits.map(heard)).filter(isListed)
  return {
    ...rest,
    tree: part(tree),
    turns: turns.map(({ outside, inside, isReopened }) => ({
      outside: outside.map(heard).filter(isListed),
      inside: part(inside),
      isReopened,
    })),
  }
}

/** What is written within a tick of the clock before the end may as well have been written after it. */
const TICK_MS = 30

test(`the same by a client that hears of changes (${WITH_WATCHER} trees)`, { timeout }, async () => {
  const property = fc.asyncProperty(treeCase, (whole) =>
    playCase(resident, editor, withoutUnheard(whole), {
      begin: () => resident.begin(),
      async end() {
        await new Promise((done) => setTimeout(done, TICK_MS))
        await resident.end()
      },
    }),
  )
  await fc.assert(property, { numRuns: WITH_WATCHER, ...MANNER })
})

test('a directory that may be somebody’s source is captured when the rules that could leave it out can not be read', async () => {
  rig.useTree('rules')
  rig.write('.gitignore', 'build/\n', 0o000)
  rig.write('build/source', 'old')
  await rig.init()
  const manifest = await rig.turn(() => rig.write('build/source', 'new'))
  expect(readEntries(rig, manifest).map(({ path }) => path)).toEqual(['build/source'])
  expect(manifest.coverage).toMatchObject({ complete: false })
})
