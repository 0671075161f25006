import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { RelPath } from '@turnback/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { auditTree } from '#capture/audit.ts'
import type { HeardChanges, TreeWatches } from '#capture-ports.ts'
import { CaptureRig, outline } from './support/capture-rig.ts'

const MANY = 40
let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('watch', true)
  for (let i = 0; i < MANY; i++) rig.write(`d${i % 8}/f${i}`, `${i}`)
})
afterEach(() => rig.dispose())

/** A turn's begin and end, without anything in between. */
async function countLooks(): Promise<number> {
  const { statted } = await rig.beginFully()
  return statted + (await rig.end()).statted
}

function watches(): TreeWatches {
  const { watches: found } = rig.deps
  if (found === null) throw new Error('this system has no watcher')
  return found
}

test('the first look is one at the whole tree; after it only what was changed is looked at', async () => {
  await rig.init()
  expect(await countLooks()).toBeLessThan(5)
  await rig.begin()
  rig.write('d1/f1', 'changed')
  rig.write('d2/new/deep', 'made')
  const { row, statted, hashed } = await rig.end()
  expect({ entries: row.entries, created: row.created, changed: row.changed, hashed }).toEqual({
    entries: 3,
    created: 1,
    changed: 1,
    hashed: 2,
  })
  expect(statted).toBeLessThan(20)
})

test('folders that were moved, made or replaced are watched at their new place', async () => {
  rig.write('moved/in/file', '1')
  rig.write('replaced/file', '1')
  await rig.init()
  await rig.turn(() => {
    renameSync(rig.at('moved'), rig.at('d0/moved'))
    rmSync(rig.at('replaced'), { recursive: true })
    rig.write('replaced/file', 'another file in another folder')
    rig.write('made/in/one/go', '1')
  })
  const second = await rig.turn(() => {
    rig.write('d0/moved/in/file', '2')
    rig.write('replaced/file', '2')
    rig.write('made/in/one/go', '2')
    rig.write('made/in/too', '2')
    rig.write('moved', 'a file where the folder was')
  })
  expect(outline(second)).toEqual([
    'd0/moved/in/file: file → file',
    'made/in/one/go: file → file',
    'made/in/too: absent → file',
    'moved: absent → file',
    'replaced/file: file → file',
  ])
})

test('a folder that became a link is no way out of the tree', async () => {
  rig.write('d/file', 'inside')
  await rig.init()
  mkdirSync(`${rig.top}/elsewhere`)
  writeFileSync(`${rig.top}/elsewhere/file`, 'outside')
  const first = await rig.turn(() => {
    rig.write('d/file', 'changed, so that the folder is looked into')
    renameSync(rig.at('d'), `${rig.top}/away`)
    symlinkSync(`${rig.top}/elsewhere`, rig.at('d'))
  })
  expect(outline(first)).toEqual(['d: dir → symlink', 'd/file: file → absent'])
  writeFileSync(`${rig.top}/elsewhere/file`, 'outside, changed')
  expect((await rig.turn(() => {})).entries).toEqual([])
})

test('when more was changed than the queue holds, the whole tree is looked at', async () => {
  await rig.init()
  expect(await countLooks()).toBeLessThan(5)
  await rig.begin()
  const held = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'latin1'))
  // Nobody reads events meanwhile: a file that is made and one that is removed are told as two at least.
  for (let i = 0; i < held / 2 + 1000; i++) {
    writeFileSync(rig.at(`d3/x${i}`), '')
    rmSync(rig.at(`d3/x${i}`))
  }
  rig.write('d7/f7', 'after the queue was full')
  const { row, statted } = await rig.end()
  expect(row.changed).toBe(1)
  expect(statted).toBeGreaterThan(MANY)
})

test('a root that was removed and made anew is heard of no more: everything is looked at, and watched again', async () => {
  await rig.init()
  await countLooks()
  await rig.begin()
  rmSync(rig.root, { recursive: true })
  mkdirSync(rig.root)
  // On a busy disk it gets another number, which is another workspace; here it is told to be the same.
  const inode = String(lstatSync(rig.root, { bigint: true }).ino)
  Object.assign(rig.workspace, { inode })
  rig.write('top', 'made')
  rig.write('d1/f1', 'made')
  const { row, statted } = await rig.end()
  expect(row).toMatchObject({ created: 1, changed: 1 })
  expect(statted).toBeGreaterThan(1)
  const next = await rig.turn(() => rig.write('top', 'changed'))
  expect(outline(next)).toEqual(['top: file → file'])
})

test('without the proof that all was heard, the whole tree is looked at', async () => {
  await rig.init()
  await rig.begin()
  rig.write('d1/f1', 'changed')
  // The proof is a file of ours that is heard of; nothing is heard of this folder any more.
  rmSync(`${rig.deps.home.store}/watch`, { recursive: true })
  const { row, statted } = await rig.end()
  expect(row.changed).toBe(1)
  expect(statted).toBeGreaterThan(MANY)
})

test('a machine that slept, or a clock that was set, is followed by a look at the whole tree', async () => {
  await rig.init()
  expect(await countLooks()).toBeLessThan(5)
  const now = Date.now
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000)
  expect((await rig.beginFully()).statted).toBeGreaterThan(MANY)
  clock.mockRestore()
})

test('what a look took that was not kept is looked for once more', async () => {
  await rig.init()
  await rig.begin()
  rig.write('d1/f1', 'changed')
  const fault = vi.spyOn(rig.deps.captureLog, 'insertChanges').mockImplementationOnce(() => {
    throw new Error('planted')
  })
  await expect(rig.end()).rejects.toThrow('planted')
  fault.mockRestore()
  const { row, statted } = await rig.end()
  expect(row.changed).toBe(1)
  expect(statted).toBeGreaterThan(MANY)
})

test('another process that looks in between changes nothing for this one', async () => {
  await rig.init()
  rig.write('d1/f1', 'by hand')
  rig.write('made/by/hand', '1')
  expect(rig.run(['checkpoint', '--json']).code).toBe(0)
  const turn = await rig.turn(() => {
    rig.write('d1/f1', 'by the agent')
    rig.write('made/by/hand', '2')
  })
  expect(outline(turn)).toEqual(['d1/f1: file → file', 'made/by/hand: file → file'])
  expect(rig.read(turn.entries[0] ?? never(), 'before')).toBe('by hand')
})

test('a workspace that is registered below, and one that is given up, are seen without an event', async () => {
  rig.write('inner/file', '1')
  await rig.init()
  const { registerWorkspace } = await import('#capture/register.ts')
  const { findPlace } = await import('#worktree/find-root.ts')
  registerWorkspace(rig.deps, findPlace(rig.at('inner'), rig.deps.home, rig.env, true), null)
  const turn = await rig.turn(() => {})
  expect(turn.skipped).toMatchObject([{ path: 'inner', reason: 'nested-workspace' }])
})

/** Leaves one path out of what was heard, as a write through a memory map does. */
function deafenTo(missed: RelPath): void {
  const { hear } = watches()
  vi.spyOn(watches(), 'hear').mockImplementation(async (workspace) => {
    const heard = await hear(workspace)
    return heard === null ? null : withoutPath(heard, missed)
  })
}

function withoutPath(heard: HeardChanges, missed: RelPath): HeardChanges {
  const [folder = '', name = ''] = missed.split('/')
  const paths = new Map(heard.paths)
  const names = paths.get(folder)
  if (names !== undefined && names !== 'all')
    paths.set(folder, new Map([...names].filter(([each]) => each !== name)))
  return { ...heard, paths: heard.paths === null ? null : paths }
}

test('what was not heard is found by the look after the end, and is the turn’s; what came later is not', async () => {
  await rig.init()
  const turn = await rig.begin()
  deafenTo('d1/f1')
  rig.write('d1/f1', 'unheard')
  rig.write('d2/f2', 'heard')
  // Longer ago than the clock that files are stamped with can not tell apart.
  await new Promise((done) => setTimeout(done, 30))
  const { row } = await rig.end()
  expect(row.changed).toBe(1)
  const manifest = await rig.manifest(turn)
  expect(outline(manifest)).toEqual(['d1/f1: file → file', 'd2/f2: file → file'])
  expect(rig.deps.log.findTurn(turn)).toMatchObject({ entries: 2, changed: 2 })
  expect(rig.deps.log.listTurns(rig.workspace.id)).toHaveLength(1)
})

test('what nobody told of and was changed before the turn is a person’s, though the look after the end finds it', async () => {
  await rig.init()
  await countLooks()
  deafenTo('d1/f1')
  rig.write('d1/f1', 'by hand, unheard')
  await new Promise((done) => setTimeout(done, 30))
  const turn = await rig.turn(() => rig.write('d2/f2', 'by the agent'))
  expect(outline(turn)).toEqual(['d2/f2: file → file'])
  await rig.begin()
  const outside = rig.deps.log.listTurns(rig.workspace.id).filter(({ kind }) => kind === 'outside')
  expect(outside).toMatchObject([{ changed: 1 }])
})

test('a look after an end that others overtook is given up', async () => {
  await rig.init()
  await rig.begin()
  const { row } = await rig.end()
  await rig.begin({ session: 's2' })
  await rig.end('s2')
  expect(await auditTree(rig.deps, rig.workspace, { turn: row.turn, untilMs: Date.now() }, () => false)).toBe(
    false,
  )
})

test('a person’s work right after the end is nobody’s, also when the look after the end sees it', async () => {
  await rig.init()
  const turn = await rig.begin()
  await rig.end()
  await new Promise((done) => setTimeout(done, 30))
  rig.write('d1/f1', 'by hand')
  expect((await rig.manifest(turn)).entries).toEqual([])
  await rig.begin()
  expect(rig.deps.log.listTurns(rig.workspace.id).map(({ kind }) => kind)).toEqual([
    'agent',
    'outside',
    'agent',
  ])
})

test('the look after the end gives way to a turn that begins', async () => {
  await rig.init()
  const turn = await rig.begin()
  const { row } = await rig.end()
  await rig.begin({ session: 's2' })
  const isWhole = await auditTree(
    rig.deps,
    rig.workspace,
    { turn: row.turn, untilMs: Date.now() },
    () => false,
  )
  expect(isWhole).toBe(false)
  expect((await rig.manifest(turn)).entries).toEqual([])
})

test('where the kernel gives no more watchers, the whole tree is looked at each time', async () => {
  const { watchTrees } = await import('#worktree/tree-watch.ts')
  const none = watchTrees(`${rig.top}/none`, () => {
    throw Object.assign(new Error('System limit for number of file watchers reached'), { code: 'ENOSPC' })
  })
  await rig.init()
  const heard = await none?.hear(rig.workspace)
  heard?.cover('', rig.root, 1n, true)
  expect(await none?.hear(rig.workspace)).toBeNull()
  none?.close()
})

function never(): never {
  throw new Error('there is an entry')
}
