import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { WorkspaceId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { firstCapture, registerWorkspace } from '#capture/register.ts'
import type { LookOptions, Observation } from '#capture-ports.ts'
import { findPlace } from '#worktree/find-root.ts'
import { createTreeLooker } from '#worktree/look-at-tree.ts'
import { ReadCrew } from '#worktree/read-crew.ts'
import { CaptureRig, PLAIN_UID } from './support/capture-rig.ts'

const SLOWLY = fileURLToPath(new URL('./support/first-capture-slowly.ts', import.meta.url))
/** More than one process reads by itself. */
const MANY = 700

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('threads')
})
afterEach(() => rig.dispose())

const store = (...names: string[]) => join(rig.top, 'home', 'store', ...names)
const OPTIONS: LookOptions = {
  isFirst: true,
  changed: null,
  watching: null,
  countExcluded: true,
  deadlineMs: null,
  giveUpMs: null,
  nested: new Set(),
  isSealed: (path) => path === 'sealed-before',
}

function writeMany(count = MANY, bytes = 300): void {
  for (let i = 0; i < count; i++)
    rig.write(`many/d${i % 23}/f${i}`, `file ${i}\n`.repeat(Math.ceil(bytes / 9)))
}

/** All kinds of things that a tree may hold. */
function writeOddTree(): void {
  writeMany()
  rig.write('sealed-before', 'a path that was found to hold a secret')
  rig.write('.env', 'TOKEN=1')
  rig.write('.gitignore', 'ignored/\n*.local\n')
  rig.write('ignored/file', 'ignored')
  rig.write('x.local', 'ignored by its name')
  rig.write('empty', '')
  rig.write('same-1', 'the same bytes '.repeat(50))
  rig.write('same-2', 'the same bytes '.repeat(50))
  rig.write('new\nline "quoted" *', 'odd')
  rig.write('caf\u00e9', 'composed')
  rig.write('cafe\u0301', 'decomposed')
  rig.write('exec', '#!/bin/sh\n', 0o755)
  rig.write('large', Buffer.alloc(5_000_000, 'large '))
  rig.write('larger', Buffer.alloc(9_000_000, 'larger '))
  rig.write('b64:name', 'a name that looks like an escape')
  writeFileSync(Buffer.concat([Buffer.from(`${rig.root}/bytes-`), Buffer.from([0xff, 0xfe])]), 'no UTF-8')
  rig.write(`${'deep/'.repeat(40)}leaf`, 'deep')
  mkdirSync(rig.at('empty-folder'))
  symlinkSync('empty', rig.at('link'))
  symlinkSync('/nowhere', rig.at('dangling'))
  execFileSync('mkfifo', [rig.at('fifo')])
  rig.write('node_modules/left-out/file', 'excluded')
}

/** A look by threads, and one without, at the same tree with nothing known. */
async function lookBothWays(): Promise<{ threads: Observation; alone: Observation }> {
  const { deps } = rig
  const workspace = registerWorkspace(deps, findPlace(rig.root, deps.home, rig.env, true), null)
  const parts = { clock: deps.clock, config: deps.config, home: deps.home, blobs: deps.packedBlobs }
  const alone = await createTreeLooker({ ...parts, crew: null }).look(workspace, new Map(), OPTIONS)
  deps.packedBlobs.discard()
  const threads = await createTreeLooker({ ...parts, crew: deps.crew }).look(workspace, new Map(), OPTIONS)
  deps.packedBlobs.flush()
  return { alone, threads }
}

/** What must be the same; the order in which files were read is not. */
const outcome = ({ folders, sealed, ...rest }: Observation) => ({
  ...rest,
  sealed: [...sealed].sort(),
  folders: [...folders].map(([folder, known]) => [folder, known?.stamp, [...(known?.entries ?? [])].sort()]),
})

test('threads see an odd tree exactly as one reader does, and store all of it', async () => {
  writeOddTree()
  rig.aheadMs = 60_000
  const { alone, threads } = await lookBothWays()
  expect(outcome(threads)).toEqual(outcome(alone))
  expect(rig.deps.crew.isWarm).toBe(true)
  expect(threads).toMatchObject({ hashed: threads.files, incomplete: null })
  expect(threads.sealed).toEqual(expect.arrayContaining(['.env', 'ignored/file', 'x.local', 'sealed-before']))
  for (const [folder, known] of threads.folders) {
    for (const [name, { state }] of known?.entries ?? []) {
      if (state.kind !== 'file' || name.startsWith('b64:')) continue
      const stored = Buffer.from(rig.deps.blobs.read(state.blob))
      expect(stored.equals(readFileSync(join(rig.root, folder, name)))).toBe(true)
    }
  }
})

test('what this user may not read is skipped by threads too', () => {
  writeMany()
  rig.write('closed', 'no reading')
  if (PLAIN_UID !== undefined) execFileSync('chown', ['-R', `${PLAIN_UID}`, rig.top])
  chmodSync(rig.at('closed'), 0)
  const ran = rig.run(['init', '--json'], PLAIN_UID === undefined ? {} : { uid: PLAIN_UID })
  expect(ran.json).toMatchObject({ files: MANY, skipped: [{ path: 'closed', reason: 'unreadable' }] })
})

test('many files that change are read by threads: as what differs, and only those', async () => {
  writeMany()
  rig.aheadMs = 60_000
  await rig.init()
  const manifest = await rig.turn(() => {
    for (let i = 0; i < 400; i++) rig.write(`many/d${i % 23}/f${i}`, `${`file ${i}\n`.repeat(34)}more ${i}\n`)
  })
  expect(manifest.entries).toHaveLength(400)
  for (const entry of manifest.entries) {
    expect(rig.read(entry, 'after')).toBe(readFileSync(rig.at(entry.path), 'utf8'))
    expect(rig.read(entry, 'before')).toMatch(/^file \d+\n/)
  }
  const db = new DatabaseSync(store('turnback.db'), { readOnly: true })
  expect(db.prepare('SELECT COUNT(*) AS n FROM blobs WHERE base IS NOT NULL').get()).toEqual({ n: 400 })
  db.close()
  expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
})

test('a file that somebody writes to meanwhile is never torn', async () => {
  writeMany()
  // Each version is one letter, so a mixture of two shows.
  const writer = spawn(process.execPath, [
    '-e',
    `const fs = require('fs'); for (let i = 0; ; i++) fs.writeFileSync(process.argv[1], String.fromCharCode(97 + i % 26).repeat(900000))`,
    rig.at('busy'),
  ])
  try {
    while (lstatSync(rig.at('busy'), { throwIfNoEntry: false }) === undefined)
      await new Promise((done) => setTimeout(done, 1))
    const { threads } = await lookBothWays()
    const busy = threads.folders.get('')?.entries.get('busy')?.state
    if (busy?.kind === 'file') {
      const bytes = Buffer.from(rig.deps.blobs.read(busy.blob))
      expect(new Set(bytes).size).toBeLessThanOrEqual(1)
    } else expect(busy).toMatchObject({ kind: 'skipped', reason: 'changed-while-reading' })
  } finally {
    writer.kill('SIGKILL')
    await once(writer, 'exit')
  }
})

test('when a thread cannot write, nothing is recorded and nothing of it stays', async () => {
  writeMany()
  const { deps } = rig
  const { packs } = deps
  const newPrefix = packs.newPrefix.bind(packs)
  packs.newPrefix = () => {
    const prefix = newPrefix()
    // The name of its first pack is taken: the system says EEXIST, as it might say EIO or EMFILE.
    writeFileSync(store('tmp', `${prefix}0001.pack`), '')
    return prefix
  }
  await expect(rig.init()).rejects.toMatchObject({ code: 'NOT_RECORDED', details: { why: 'EEXIST' } })
  expect(deps.captureLog.peekScan(rig.workspace.id)).toBe(1)
  expect(readdirSync(store('tmp'))).toEqual([])
  packs.newPrefix = newPrefix
  await rig.init()
  expect(deps.log.getKnownTree(rig.workspace.id).size).toBeGreaterThan(MANY)
  expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
})

test('a thread that ends while it reads fails the look, and the next one starts others', async () => {
  writeMany(3000, 4000)
  const { deps } = rig
  const workspace = registerWorkspace(deps, findPlace(rig.root, deps.home, rig.env, true), null)
  const first = firstCapture(deps, workspace, false)
  const failed = expect(first).rejects.toThrow(/were stopped/)
  while (readdirSync(store('tmp')).length === 0) await new Promise((done) => setTimeout(done, 1))
  deps.crew.close()
  await failed
  expect(readdirSync(store('tmp'))).toEqual([])
  expect(await firstCapture(deps, workspace, false)).toMatchObject({ files: 3000 })
})

function startSlowly(sliceMs: number): ChildProcess {
  return spawn(process.execPath, [SLOWLY, rig.root, String(sliceMs)], { env: rig.env, stdio: 'pipe' })
}

function countFirstReads(): number {
  if (lstatSync(store('turnback.db'), { throwIfNoEntry: false }) === undefined) return 0
  const db = new DatabaseSync(store('turnback.db'), { readOnly: true })
  try {
    return Number(db.prepare('SELECT COUNT(*) AS n FROM first_reads').get()?.n)
  } catch {
    // The store is being made.
    return 0
  } finally {
    db.close()
  }
}

function listKnown(workspace: WorkspaceId): string[] {
  return [...rig.deps.captureLog.loadKnown(workspace)]
    .flatMap(([folder, { entries }]) =>
      [...entries].map(([name, { state }]) => `${folder}/${name} ${JSON.stringify(state)}`),
    )
    .sort()
}

test('a first capture that is killed goes on where it was, and sees what one that was not killed sees', async () => {
  writeMany(3000, 4000)
  rig.write('.gitignore', 'build/\n')
  rig.write('build/made', 'left out because it was there at the first capture')
  // What was read must not be younger than the look that read it, or it is read again.
  await new Promise((done) => setTimeout(done, 50))
  const child = startSlowly(0)
  const exit = once(child, 'exit')
  while (countFirstReads() < 3 && child.exitCode === null) await new Promise((done) => setTimeout(done, 2))
  child.kill('SIGKILL')
  await exit
  expect(child.signalCode).toBe('SIGKILL')
  const kept = countFirstReads()
  expect(kept).toBeGreaterThan(0)
  const { deps } = rig
  const workspace = registerWorkspace(deps, findPlace(rig.root, deps.home, rig.env, true), null)
  expect(deps.captureLog.peekScan(workspace.id)).toBe(1)

  rig.write('many/d0/f0', 'changed since it was read')
  const observation = await firstCapture(deps, workspace, true)
  expect(observation).toMatchObject({ files: 3001, differences: [] })
  expect(observation?.hashed).toBeLessThan(3001)
  expect(countFirstReads()).toBe(0)
  expect(deps.log.listTurns(workspace.id)).toEqual([])
  expect(deps.captureLog.loadKnown(workspace.id).get('')?.entries.get('build')?.state).toMatchObject({
    reason: 'excluded-directory',
  })
  const resumed = listKnown(workspace.id)
  expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })

  rig.reopen()
  rig.env.TURNBACK_HOME = join(rig.top, 'another-home')
  const other = registerWorkspace(rig.deps, findPlace(rig.root, rig.deps.home, rig.env, true), null)
  await firstCapture(rig.deps, other, true)
  expect(resumed).toEqual(listKnown(other.id))
})

test('memory does not grow with the number of files', async () => {
  writeMany(6000, 12_000)
  const child = startSlowly(2000)
  let text = ''
  child.stdout?.on('data', (more: Buffer) => {
    text += more.toString()
  })
  await once(child, 'exit')
  const { maxRssBytes } = JSON.parse(text) as { maxRssBytes: number }
  expect(maxRssBytes).toBeLessThan(450 * 1024 * 1024)
})

test('nothing of the store can be read by anybody else', async () => {
  writeOddTree()
  await rig.init()
  await rig.turn(() => rig.write('empty', 'no more'))
  const look = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((each) => {
      const at = join(folder, each.name)
      const mode = (lstatSync(at).mode & 0o777).toString(8)
      if (each.isDirectory()) return [`${mode} folder`, ...look(at)]
      return [each.isFile() ? `${mode} file` : mode]
    })
  expect(new Set(look(join(rig.top, 'home')))).toEqual(new Set(['700 folder', '600 file']))
})

test('what threads could not read in the time given is left for the next look, and said', async () => {
  writeMany()
  const { deps } = rig
  const workspace = registerWorkspace(deps, findPlace(rig.root, deps.home, rig.env, true), null)
  let nowMs = 1000
  // The time is over after so many looks at the clock.
  const clock = { nowMs: () => nowMs++ }
  const parts = { clock, config: deps.config, home: deps.home, blobs: deps.packedBlobs, crew: deps.crew }
  const options = { ...OPTIONS, isFirst: false, deadlineMs: 1003 }
  const { folders, hashed, incomplete } = await createTreeLooker(parts).look(workspace, new Map(), options)
  const left = [...folders.values()].flatMap((known) =>
    [...(known?.entries.values() ?? [])].filter(
      ({ state }) => state.kind === 'skipped' && state.reason === 'budget',
    ),
  )
  expect(left.length).toBeGreaterThan(MANY / 2)
  expect(left.length + hashed).toBe(MANY)
  expect(incomplete).toMatch(new RegExp(`^${left.length} file`))
})

test('threads are not started for few files', async () => {
  for (let i = 0; i < 20; i++) rig.write(`f${i}`)
  const crew = new ReadCrew()
  const { deps } = rig
  const workspace = registerWorkspace(deps, findPlace(rig.root, deps.home, rig.env, true), null)
  const parts = { clock: deps.clock, config: deps.config, home: deps.home, blobs: deps.packedBlobs, crew }
  await createTreeLooker(parts).look(workspace, new Map(), { ...OPTIONS, isFirst: false })
  expect(crew.isWarm).toBe(false)
  crew.close()
})
