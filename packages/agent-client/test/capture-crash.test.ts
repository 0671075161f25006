import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DomainError } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig, canMount, outline, PLAIN_UID } from './support/capture-rig.ts'
import { watchSteps } from './support/fs-steps.ts'
import { makeError } from './support/step-error.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('crash')
})
afterEach(() => rig.dispose())

const store = (...names: string[]) => join(rig.top, 'home', 'store', ...names)

/** Starts the command line and ends it with SIGKILL as soon as `when` says so, or lets it come to its end. */
async function runAndKill(args: readonly string[], when: (startedMs: number) => boolean): Promise<boolean> {
  const child = rig.spawn(args)
  let isOver = false
  const over = new Promise<void>((done) => child.once('exit', () => done())).then(() => {
    isOver = true
  })
  const startedMs = performance.now()
  while (!isOver && !when(startedMs)) await new Promise((done) => setTimeout(done, 1))
  if (!isOver) child.kill('SIGKILL')
  await over
  return child.signalCode === 'SIGKILL'
}

test('killed at any time in the first capture, at begin or at end, the store stays usable and small', async () => {
  for (let i = 0; i < 30; i++) rig.write(`f${i}`, randomBytes(1_500_000))
  const hasPack = () => existsSync(store('tmp')) && readdirSync(store('tmp')).length > 0
  let kills = 0
  // As soon as it writes bytes, then later and later.
  for (const afterMs of [0, 5, 20, 60]) {
    let seen = 0
    const when = () => {
      if (seen === 0 && hasPack()) seen = performance.now()
      return seen > 0 && performance.now() - seen >= afterMs
    }
    if (await runAndKill(['begin', '--session', 's', '--json'], when)) kills++
  }
  expect(kills).toBeGreaterThan(0)
  // The killed one did leave something: the next start has to find and remove it.
  expect(readdirSync(store('tmp'))).not.toEqual([])
  const begun = rig.run(['begin', '--session', 's', '--turn', 'last', '--json'])
  expect(begun.code).toBe(0)
  rig.write('f1', 'changed')
  rig.write('new', 'made')
  for (const afterMs of [150, 300, 450]) {
    await runAndKill(
      ['end', '--session', 's', '--json'],
      (startedMs) => performance.now() - startedMs >= afterMs,
    )
  }
  // It may have come to its end before it was killed; then there is nothing left to be ended.
  expect([0, 1]).toContain(rig.run(['end', '--session', 's', '--json']).code)
  const shown = rig.run(['show', String(begun.json.turn), '--json'])
  expect(shown.json).toMatchObject({ entries: [{ path: 'f1' }, { path: 'new' }] })
  expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
  expect(readdirSync(store('tmp'))).toEqual([])
  const listed = new DatabaseSync(store('turnback.db'), { readOnly: true })
  const names = listed.prepare('SELECT name FROM packs ORDER BY name').all()
  listed.close()
  expect(readdirSync(store('packs')).sort()).toEqual(names.map(({ name }) => name))
})

test('a torn tail behind the packs is cut off; what was listed stays whole', async () => {
  rig.write('a', 'before the tear')
  await rig.init()
  await rig.turn(() => rig.write('a', 'first'))
  const [pack] = readdirSync(store('packs'))
  const whole = statSync(store('packs', pack ?? '')).size
  appendFileSync(store('packs', pack ?? ''), Buffer.alloc(5000, 0xab))
  rig.reopen()
  const manifest = await rig.turn(() => rig.write('a', 'second'))
  expect(outline(manifest)).toEqual(['a: file → file'])
  expect(statSync(store('packs', pack ?? '')).size).toBeLessThan(whole + 5000)
  expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
})

test('a file of the store that goes while its size is asked for is no fault', async () => {
  rig.write('a', 'some bytes')
  await rig.init()
  const size = rig.deps.packs.bytesOnDisk()
  // Listed, and not there any more: what another process moves to its place looks like this.
  symlinkSync('moved away', store('tmp', 'listed.pack'))
  expect(rig.deps.packs.bytesOnDisk()).toBe(size)
  expect(size).toBeGreaterThan(0)
})

test('verify finds damaged and lost bytes', async () => {
  rig.write('a', 'some bytes that are here')
  await rig.init()
  const [pack] = readdirSync(store('packs'))
  const file = store('packs', pack ?? '')
  truncateSync(file, statSync(file).size - 1)
  const { code, json } = rig.run(['verify', '--json'])
  expect(code).toBe(1)
  expect(json).toMatchObject({ blobs: 1, missing: [expect.stringMatching(/^p/)], corrupt: [] })
  writeFileSync(file, Buffer.alloc(1000))
  expect(rig.run(['verify', '--json']).json).toMatchObject({
    missing: [],
    corrupt: [expect.stringMatching(/^p/)],
  })
})

test('a store of a newer version, and one that is no store, are refused by their code', async () => {
  await rig.init()
  rig.reopen()
  const db = new DatabaseSync(store('turnback.db'))
  db.exec('PRAGMA user_version = 999')
  db.close()
  expect(rig.run(['status', '--json']).json).toMatchObject({
    error: { code: 'STORE_NEWER', details: { found: 999 } },
  })
  for (const end of ['', '-wal', '-shm'])
    writeFileSync(store(`turnback.db${end}`), 'this is no database at all, but a text')
  expect(rig.run(['status', '--json']).json).toMatchObject({ error: { code: 'STORE_CORRUPT' } })
})

test('several processes at once take turns; nothing is counted twice', async () => {
  rig.write('a', '0')
  await rig.init()
  rig.reopen()
  rig.write('a', 'a person’s')
  const runs = [1, 2, 3].map(
    (n) =>
      new Promise<number | null>((done) => {
        rig.spawn(['begin', '--session', `s${n}`, '--json']).once('exit', done)
      }),
  )
  expect(await Promise.all(runs)).toEqual([0, 0, 0])
  const turns = rig.deps.log.listTurns(rig.workspace.id)
  expect(turns.map(({ number }) => number)).toEqual([1, 2, 3, 4])
  expect(turns.map(({ kind }) => kind)).toEqual(['outside', 'agent', 'agent', 'agent'])
  expect(rig.deps.log.listChanges(rig.workspace.id)).toHaveLength(1)
})

test.skipIf(!canMount())(
  'on a full disk nothing is recorded, nothing is half done, and it goes on when there is room',
  async () => {
    const home = join(rig.top, 'home')
    mkdirSync(home)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', home])
    try {
      rig.write('a', 'small')
      await rig.init()
      const turn = await rig.begin()
      rig.write('a', 'changed')
      // Random enough not to be made smaller.
      execFileSync('dd', ['if=/dev/urandom', `of=${rig.at('big')}`, 'bs=1M', 'count=10', 'status=none'])
      await expect(rig.end()).rejects.toMatchObject({ code: 'STORE_FULL' })
      expect(rig.deps.log.findTurn(turn)).toMatchObject({ isOpen: true })
      expect(rig.deps.log.listChanges(rig.workspace.id)).toEqual([])
      rig.reopen()
      const failed = rig.run(['end', '--session', 's1', '--json'])
      expect(failed).toMatchObject({ code: 1, json: { error: { code: 'STORE_FULL' } } })

      execFileSync('mount', ['-o', 'remount,size=64m', home])
      await rig.end()
      expect(outline(await rig.manifest(turn))).toEqual(['a: file → file', 'big: absent → file'])
      expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
    } finally {
      rig.reopen()
      execFileSync('umount', ['-l', home])
    }
  },
)

test.each(['append', 'newPrefix'] as const)(
  'when the store can not write (%s), the turn stays open and nothing of it is in the log',
  async (part) => {
    await rig.init()
    const turn = await rig.begin()
    rig.write('a', 'small')
    if (part === 'newPrefix')
      rig.write('big', Buffer.from(Array.from({ length: 9_000_000 }, () => Math.random() * 256)))
    const write = rig.deps.packs[part]
    rig.deps.packs[part] = () => {
      throw new DomainError('STORE_FULL')
    }
    await expect(rig.end()).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(rig.deps.log.findTurn(turn)).toMatchObject({ isOpen: true })
    expect(rig.deps.log.listChanges(rig.workspace.id)).toEqual([])
    Object.assign(rig.deps.packs, { [part]: write })
    await rig.end()
    expect((await rig.manifest(turn)).entries.map(({ path }) => path)).toContain('a')
    expect(rig.run(['verify', '--json']).json).toMatchObject({ missing: [], corrupt: [] })
  },
)

test('what this user may not read is named; its paths are never taken for absent', () => {
  for (const path of ['closed/in', 'closed/sub/deep', 'closed-file', 'open']) rig.write(path, path)
  const own = (path: string) => {
    if (PLAIN_UID !== undefined) execFileSync('chown', ['-R', `${PLAIN_UID}`, path])
  }
  own(rig.top)
  const chmod = (mode: string, path: string) => execFileSync('chmod', [mode, rig.at(path)])
  const run = (...args: string[]) =>
    rig.run([...args, '--json'], PLAIN_UID === undefined ? {} : { uid: PLAIN_UID })
  chmod('000', 'closed')
  chmod('000', 'closed-file')
  expect(run('init').json).toMatchObject({
    files: 1,
    skipped: [
      { path: 'closed', reason: 'unreadable' },
      { path: 'closed-file', reason: 'unreadable' },
    ],
  })
  const { turn } = run('begin', '--session', 's').json
  chmod('755', 'closed')
  chmod('644', 'closed-file')
  run('end', '--session', 's')
  const { entries } = run('show', String(turn)).json as {
    entries: { path: string; before: object; after: object }[]
  }
  expect(entries).toMatchObject([
    { path: 'closed', before: { kind: 'dir', mode: 0 }, after: { kind: 'dir', mode: 0o755 } },
    { path: 'closed-file', before: { kind: 'skipped', reason: 'unreadable' }, after: { kind: 'file' } },
    { path: 'closed/in', before: { kind: 'skipped', reason: 'unreadable' }, after: { kind: 'file' } },
    { path: 'closed/sub', before: { kind: 'skipped', reason: 'unreadable' }, after: { kind: 'dir' } },
    { path: 'closed/sub/deep', before: { kind: 'skipped', reason: 'unreadable' }, after: { kind: 'file' } },
  ])
  // Closed again: what is known of it stays, and nothing counts as deleted.
  const { turn: second } = run('begin', '--session', 's').json
  chmod('000', 'closed')
  run('end', '--session', 's')
  const shown = run('show', String(second)).json
  expect(shown).toMatchObject({
    entries: [{ path: 'closed', after: { kind: 'dir', mode: 0 } }],
    skipped: [{ path: 'closed', reason: 'unreadable' }],
  })
})

test('a link that can not be read is told as not read', async () => {
  symlinkSync('to', rig.at('link'))
  await rig.init()
  const turn = await rig.begin()
  rmSync(rig.at('link'))
  symlinkSync('elsewhere', rig.at('link'))
  const stop = watchSteps([rig.root], (step, when) => {
    if (when === 'before' && step.call === 'readlinkSync') throw makeError(step, 'EACCES')
  })
  try {
    await rig.end()
  } finally {
    stop()
  }
  const manifest = await rig.manifest(turn)
  expect(outline(manifest)).toEqual(['link: symlink → unreadable'])
  expect(manifest.coverage).toMatchObject({ complete: false, reason: '1 path(s) could not be read' })
})

test('a folder that the disk gives no facts of is told as not read, and nothing in it as gone', async () => {
  for (const path of ['src/d/a', 'src/d/deep/b', 'c']) rig.write(path, path)
  await rig.init()
  const turn = await rig.begin()
  rig.write('c', 'changed')
  const stop = watchSteps([rig.root], (step, when) => {
    if (when === 'before' && step.call === 'lstatSync' && step.target === rig.at('src/d'))
      throw makeError(step, 'EIO')
  })
  try {
    await rig.end()
  } finally {
    stop()
  }
  const manifest = await rig.manifest(turn)
  expect(manifest.coverage).toMatchObject({ complete: false })
  expect(outline(manifest)).toEqual([
    'c: file → file',
    'src/d: dir → unreadable',
    'src/d/a: file → unreadable',
    'src/d/deep: dir → unreadable',
    'src/d/deep/b: file → unreadable',
  ])
  // The next look sees it again.
  await rig.begin({ session: 's2' })
  expect(
    [...rig.deps.log.getKnownTree(rig.workspace.id).values()].some(({ kind }) => kind === 'skipped'),
  ).toBe(false)
})
