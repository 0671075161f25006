import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DomainError, type FileState, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommandLine } from '#cli/run.ts'
import { recover } from '#restore/recover.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'
import { attachRig, openRig, type Rig } from './support/restore-rig.ts'
import { differences, type TreeSnapshot } from './support/tree-snapshot.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

const WHOLE_RUN = 1_000_000
// Every step of the disk has its turn in restore-steps.test.ts; here the points lie between the steps of the plan.
const KILL_POINTS = 20
/** As the command line does: most of a start is reading the sources. */
const CACHE = join(import.meta.dirname, '../../../bin/compile-cache.mjs')

/** A turn with every kind of change: twelve files, links and folders, one of them closed to writing. */
async function manyChanges(): Promise<TurnId> {
  for (let i = 0; i < 4; i++) rig.put(`f${i}.txt`, `old ${i}\n`.repeat(2000))
  rig.put('gone/deep.txt', 'old')
  rig.put('run.sh', 'old', 0o755)
  rig.put('kind', 'a file')
  rig.put('folder/in.txt', 'in a folder')
  rig.put('ro/a.txt', 'old', 0o444)
  chmodSync(join(rig.root, 'ro'), 0o555)
  symlinkSync('f0.txt', join(rig.root, 'link'))
  rig.put('mine.txt', 'never touched')
  const turn = await rig.turn('A', () => {
    for (let i = 0; i < 4; i++) rig.put(`f${i}.txt`, `agent ${i}\n`.repeat(2500))
    rmSync(join(rig.root, 'gone'), { recursive: true })
    chmodSync(join(rig.root, 'run.sh'), 0o644)
    rmSync(join(rig.root, 'kind'))
    mkdirSync(join(rig.root, 'kind'))
    rmSync(join(rig.root, 'folder'), { recursive: true })
    rig.put('folder', 'a file now')
    chmodSync(join(rig.root, 'ro'), 0o755)
    rmSync(join(rig.root, 'ro/a.txt'))
    rig.put('ro/a.txt', 'agent', 0o444)
    chmodSync(join(rig.root, 'ro'), 0o555)
    rmSync(join(rig.root, 'link'))
    symlinkSync('f1.txt', join(rig.root, 'link'))
    rig.put('made/new.txt', 'agent')
    rig.put('made/other.txt', 'agent')
  })
  return turn
}

/** Restores in a process of its own that is killed at its n-th moment. @returns its moments when it was not killed */
async function killAt(turn: TurnId, nth: number, ...what: string[]): Promise<number | null> {
  const script = join(import.meta.dirname, 'support/restore-killed.ts')
  const child = spawn(process.execPath, ['--import', CACHE, script, rig.top, turn, String(nth), ...what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (piece) => {
    printed += String(piece)
  })
  const [code, signal] = await once(child, 'close')
  if (signal === 'SIGKILL') return null
  expect(code).toBe(0)
  return Number(printed)
}

/** Each file is as it was before or after the turn, or away where a step passes through nothing; nothing is torn. */
function tornPaths(before: TreeSnapshot, agents: TreeSnapshot): string[] {
  return [...rig.snapshot()]
    .filter(([path, what]) => !path.includes('.turnback-') && !what.startsWith('folder'))
    .filter(([path, what]) => before.get(path) !== what && agents.get(path) !== what)
    .map(([path]) => path)
}

const hasJournal = (): boolean => rig.deps.log.findJournal(rig.workspace.id) !== null
const leftovers = (): string[] =>
  readdirSync(rig.root, { recursive: true })
    .map(String)
    .filter((name) => name.includes('.turnback-'))

/** The tree before the turn is taken from a restore that nobody kills. */
async function prepared(): Promise<{
  turn: TurnId
  before: TreeSnapshot
  agents: TreeSnapshot
  moments: number
}> {
  const turn = await manyChanges()
  const agents = rig.snapshot()
  const moments = await killAt(turn, WHOLE_RUN)
  const before = rig.snapshot()
  expect((await rig.redo()).status).toBe('done')
  expect(differences(agents, rig.snapshot())).toEqual([])
  return { turn, before, agents, moments: moments ?? 0 }
}

describe('a restore that is killed', () => {
  test('at moments all through it leaves whole files, and recover finishes it; so does undoing it', {
    timeout: 600_000,
  }, async () => {
    const { turn, before, agents, moments } = await prepared()
    expect(moments).toBeGreaterThanOrEqual(KILL_POINTS)
    let cutOff = 0
    // The moments are not all alike, so the points are spread over the whole run, first and last among them.
    for (let i = 0; i < KILL_POINTS; i++) {
      const nth = Math.round((i * (moments - 1)) / (KILL_POINTS - 1))
      expect(await killAt(turn, nth), `moment ${nth}`).toBeNull()
      expect(tornPaths(before, agents), `moment ${nth}`).toEqual([])
      if (hasJournal()) {
        cutOff++
        const report = await recover(rig.deps, rig.workspace, 'finish')
        expect(report, `moment ${nth}`).toMatchObject({
          status: 'done',
          recovered: true,
          verified: true,
          kept: [],
          failed: [],
          of: [turn],
        })
      }
      const isDone = rig.undone(turn) === 'yes'
      expect(differences(isDone ? before : agents, rig.snapshot()), `moment ${nth}`).toEqual([])
      expect(leftovers()).toEqual([])
      if (isDone) await rig.redo()
      expect(differences(agents, rig.snapshot()), `moment ${nth}`).toEqual([])
    }
    expect(cutOff).toBeGreaterThanOrEqual(KILL_POINTS - 4)
  })

  test('and whose recovery is killed too is finished by the next one', { timeout: 300_000 }, async () => {
    const { turn, before, agents, moments } = await prepared()
    await killAt(turn, Math.floor(moments / 3))
    for (const nth of [0, 3, 9, 14, 20]) {
      await killAt(turn, nth, 'recover')
      expect(tornPaths(before, agents), `moment ${nth}`).toEqual([])
    }
    await rig.restore(turn)
    expect(differences(before, rig.snapshot())).toEqual([])
    expect(hasJournal()).toBe(false)
  })

  test('can be rolled back, from wherever it was', { timeout: 300_000 }, async () => {
    const { turn, agents, moments } = await prepared()
    for (let nth = 3; nth < moments - 2; nth += 7) {
      await killAt(turn, nth)
      const report = await recover(rig.deps, rig.workspace, 'abort')
      expect(report, `moment ${nth}`).toMatchObject({ status: 'nothing-to-do', turn: null, recovered: true })
      expect(differences(agents, rig.snapshot()), `moment ${nth}`).toEqual([])
      expect(leftovers()).toEqual([])
    }
    expect(rig.undone(turn)).toBe('no')
    await expect(recover(rig.deps, rig.workspace, 'abort')).rejects.toMatchObject({ code: 'NO_RECOVERY' })
  })

  test('is finished first by the next restoring command: the same one stops there, another goes on', {
    timeout: 300_000,
  }, async () => {
    const { turn, before, moments } = await prepared()
    await killAt(turn, Math.floor(moments / 2))
    expect(await rig.restore(turn)).toMatchObject({ recovered: true, status: 'done', of: [turn] })
    expect(differences(before, rig.snapshot())).toEqual([])
    await rig.redo()
    await killAt(turn, Math.floor(moments / 2))
    expect(await rig.undo()).toMatchObject({ recovered: true, status: 'done', of: [turn] })
    await rig.redo()
    await killAt(turn, Math.floor(moments / 2))
    const other = await rig.restore(turn, { paths: ['f0.txt'] })
    expect(other).toMatchObject({ recovered: false })
    expect(differences(before, rig.snapshot())).toEqual([])
  })

  test('keeps what somebody changed after the crash', { timeout: 300_000 }, async () => {
    const { turn, moments } = await prepared()
    await killAt(turn, Math.floor(moments / 2))
    rig.put('f0.txt', 'by hand, after the crash')
    rig.put('f3.txt', 'by hand, after the crash')
    const report = await recover(rig.deps, rig.workspace, 'finish')
    expect(report.kept.map((item) => item.path)).toEqual(['f0.txt', 'f3.txt'])
    expect([rig.read('f0.txt'), rig.read('f3.txt')]).toEqual(Array(2).fill('by hand, after the crash'))
    expect(report.restored).toContain('f1.txt')
  })

  test('and a turn that began after the crash: the mixed state is nobody’s work', {
    timeout: 300_000,
  }, async () => {
    const { turn, before, moments } = await prepared()
    await killAt(turn, Math.floor(moments / 2))
    const later = await rig.turn('B', () => rig.put('b.txt', 'by B'))
    const report = await rig.restore(turn)
    expect(report).toMatchObject({ recovered: true, status: 'done', kept: [], failed: [] })
    expect(differences(before, rig.snapshot())).toEqual(['b.txt: left over'])
    expect(rig.deps.log.getManifest(later).entries.map((entry) => entry.path)).toEqual(['b.txt'])
    expect(await rig.undo()).toMatchObject({ status: 'done', deleted: ['b.txt'] })
    expect(differences(before, rig.snapshot())).toEqual([])
  })
})

describe('a restore of many files', () => {
  const MANY = 300
  const changeAll = (text: string) => {
    for (let i = 0; i < MANY; i++) rig.put(`d${i % 20}/f${i}.txt`, `${text} ${i}\n`.repeat(50))
  }

  test('that is killed while many lie beside their places is finished, or rolled back', {
    timeout: 300_000,
  }, async () => {
    changeAll('old')
    const turn = await rig.turn('A', () => changeAll('agent'))
    const agents = rig.snapshot()
    const moments = await killAt(turn, WHOLE_RUN)
    const before = rig.snapshot()
    await rig.redo()
    let mostBeside = 0
    for (const [i, part] of [0.1, 0.25, 0.4, 0.6, 0.8, 0.95].entries()) {
      await killAt(turn, Math.floor((moments ?? 0) * part))
      mostBeside = Math.max(mostBeside, leftovers().length)
      expect(tornPaths(before, agents), `at ${part}`).toEqual([])
      const isBack = i % 2 === 1
      const report = await recover(rig.deps, rig.workspace, isBack ? 'abort' : 'finish')
      expect(report, `at ${part}`).toMatchObject({ recovered: true, verified: true, kept: [], failed: [] })
      expect(differences(isBack ? agents : before, rig.snapshot()), `at ${part}`).toEqual([])
      if (!isBack) await rig.redo()
      expect(leftovers()).toEqual([])
    }
    expect(mostBeside, 'they were written beside their places together').toBeGreaterThan(50)
  })

  test('lets others of its process work while it runs', async () => {
    changeAll('old')
    const turn = await rig.turn('A', () => changeAll('agent'))
    let looks = 0
    const timer = setInterval(() => looks++, 1)
    const report = await rig.restore(turn)
    clearInterval(timer)
    expect(report).toMatchObject({ status: 'done', verified: true })
    // Not how long, which is the machine's, but that it is in slices at all: before, all of this was one.
    expect(looks).toBeGreaterThan(5)
  })
})

describe('trouble with single files', () => {
  test('a disk that fills up half way: the others go back, the one is failed, the rest can be had later', async () => {
    const turn = await manyChanges()
    let isFull = true
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    })
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      writer: (workspace, restore) =>
        createTreeWriter({
          workspace,
          restore,
          blobs: deps.blobs,
          random: deps.random,
          onMoment: (moment, path) => {
            if (isFull && moment === 'write' && path.startsWith('f1')) throw full
          },
        }),
    }))
    const report = await troubled.restore(turn)
    expect(report).toMatchObject({ status: 'partly-done', verified: false })
    expect(report.failed).toMatchObject([{ path: 'f1.txt', code: 'ENOSPC' }])
    expect([rig.read('f1.txt'), rig.read('f2.txt')]).toEqual([
      'agent 1\n'.repeat(2500),
      'old 2\n'.repeat(2000),
    ])
    expect(leftovers()).toEqual([])
    expect(troubled.undone(turn)).toBe('partly')
    isFull = false
    expect(await troubled.restore(turn)).toMatchObject({ status: 'done', restored: ['f1.txt'] })
    troubled.deps.close()
  })

  test('nothing at all could be done: failed, and no turn is made', async () => {
    rig.put('a.txt', 'v1')
    const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
    const denied = Object.assign(new Error('EPERM: operation not permitted'), {
      code: 'EPERM',
      syscall: 'open',
    })
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      writer: (workspace, restore) =>
        createTreeWriter({
          ...{ workspace, restore, blobs: deps.blobs, random: deps.random },
          onMoment: () => {
            throw denied
          },
        }),
    }))
    const report = await troubled.restore(turn)
    expect(report).toMatchObject({ status: 'failed', turn: null, restored: [], verified: false })
    expect(report.failed).toMatchObject([{ path: 'a.txt', code: 'EPERM' }])
    expect([troubled.undone(turn), hasJournal()]).toEqual(['no', false])
    troubled.deps.close()
  })

  test.each([
    ['EIO', 'partly-done'],
    ['EINVAL', 'done'],
  ])('a folder that can not be made durable (%s) ends as %s', async (code, status) => {
    for (const path of ['a.txt', 'd/b.txt']) rig.put(path, 'v1')
    const turn = await rig.turn('A', () => {
      for (const path of ['a.txt', 'd/b.txt']) rig.put(path, 'agent')
    })
    const fault = Object.assign(new Error(`${code}: fsync`), { code, syscall: 'fsync' })
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      writer: (workspace, restore) =>
        createTreeWriter({
          ...{ workspace, restore, blobs: deps.blobs, random: deps.random },
          onMoment: (moment, path) => {
            if (moment === 'sync' && path === 'd') throw fault
          },
        }),
    }))
    const report = await troubled.restore(turn)
    expect([rig.read('a.txt'), rig.read('d/b.txt'), hasJournal()]).toEqual(['v1', 'v1', false])
    expect(report.status).toBe(status)
    const unsure = code === 'EINVAL' ? [] : [{ path: 'd/b.txt', code: 'NOT_DURABLE' }]
    expect(report.failed).toMatchObject(unsure)
    expect(report.restored).toEqual(code === 'EINVAL' ? ['a.txt', 'd/b.txt'] : ['a.txt'])
    troubled.deps.close()
  })

  test('when nothing at all is sure to last, it is not told that nothing was done', async () => {
    rig.put('a.txt', 'v1')
    const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
    const unsure = [{ path: '', code: 'EIO', reason: 'EIO: i/o error, fsync' }]
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      writer: (workspace, restore) =>
        Object.assign(deps.writer(workspace, restore), { sync: async () => unsure }),
    }))
    const report = await troubled.restore(turn)
    expect(report).toMatchObject({ status: 'partly-done', failed: [{ code: 'NOT_DURABLE' }] })
    troubled.deps.close()
  })

  test('what breaks off the writing is told with the way on, and recover finishes it', async () => {
    rig.put('a.txt', 'v1')
    const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
    const fault = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' })
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      writer: (workspace, restore) =>
        Object.assign(deps.writer(workspace, restore), {
          together: () => {
            throw fault
          },
        }),
    }))
    await expect(troubled.restore(turn)).rejects.toMatchObject({
      code: 'NOT_RECORDED',
      message: expect.stringContaining('`turnback recover` finishes it'),
    })
    troubled.deps.close()
    expect(await recover(rig.deps, rig.workspace, 'finish')).toMatchObject({ status: 'done' })
    expect(rig.read('a.txt')).toBe('v1')
  })

  test('a store that is full at the end: said as it is, and recover finishes the record', async () => {
    rig.put('a.txt', 'v1')
    const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
    const troubled = await attachRig(rig.top, (deps) => ({
      ...deps,
      capture: {
        ...deps.capture,
        recordRestore() {
          throw new DomainError('STORE_FULL')
        },
      },
    }))
    expect(await troubled.restore(turn)).toMatchObject({
      status: 'partly-done',
      turn: null,
      restored: ['a.txt'],
      verified: true,
      error: { code: 'STORE_FULL', message: expect.stringContaining('not recorded yet') },
    })
    troubled.deps.close()
    expect([rig.read('a.txt'), rig.undone(turn), hasJournal()]).toEqual(['v1', 'no', true])
    const report = await recover(rig.deps, rig.workspace, 'finish')
    expect(report).toMatchObject({ status: 'done', restored: ['a.txt'], recovered: true, of: [turn] })
    expect([rig.undone(turn), hasJournal()]).toEqual(['yes', false])
  })

  test('bytes that are gone from the store, or damaged, keep their path and delete nothing', async () => {
    for (const name of ['a.txt', 'b.txt', 'c.txt']) rig.put(name, `${name} as it was`.repeat(50))
    rig.put('way', 'a file where a folder will be')
    const turn = await rig.turn('A', () => {
      for (const name of ['a.txt', 'b.txt', 'c.txt']) rig.put(name, 'agent')
      rmSync(join(rig.root, 'way'))
      rig.put('way/in.txt', 'agent')
    })
    const entries = rig.deps.log.getManifest(turn).entries
    const blobOf = (path: string): FileState['blob'] => {
      const state = entries.find((entry) => entry.path === path)?.before
      if (state?.kind !== 'file') throw new DomainError('PATH_NOT_FOUND', { path })
      return state.blob
    }
    damage(blobOf('a.txt'), 'damaged')
    damage(blobOf('b.txt'), 'removed')
    damage(blobOf('way'), 'removed')
    const report = await rig.restore(turn)
    expect(report.restored).toEqual(['c.txt'])
    expect(report.kept.filter((item) => item.reason === 'missing-blob').map((item) => item.path)).toEqual([
      'a.txt',
      'b.txt',
      'way',
      // What stands in the way of bytes that are gone is not removed for them.
      'way/in.txt',
    ])
    expect(rig.list()).toEqual(['a.txt', 'b.txt', 'c.txt', 'way/in.txt'])
    expect([rig.read('a.txt'), rig.read('b.txt'), rig.read('way/in.txt')]).toEqual([
      'agent',
      'agent',
      'agent',
    ])
  })

  test('a file is neither removed nor written over when the store could not give it back', async () => {
    rig.put('changed', 'as it was'.repeat(50))
    const turn = await rig.turn('A', () => {
      rig.put('made', 'the only copy'.repeat(50))
      rig.put('changed', 'the only copy of this'.repeat(50))
      rig.put('other', 'agent')
    })
    for (const path of ['made', 'changed']) {
      const state = rig.deps.log.getManifest(turn).entries.find((entry) => entry.path === path)?.after
      if (state?.kind !== 'file') throw new DomainError('PATH_NOT_FOUND', { path })
      damage(state.blob, 'damaged')
    }
    const report = await rig.restore(turn)
    expect(report).toMatchObject({ status: 'done', deleted: ['other'], restored: [] })
    expect(report.kept).toMatchObject([
      { path: 'changed', reason: 'missing-blob' },
      { path: 'made', reason: 'missing-blob' },
    ])
    expect([rig.read('made'), rig.read('changed')]).toEqual([
      'the only copy'.repeat(50),
      'the only copy of this'.repeat(50),
    ])
  })

  test('bytes that can not be read leave their file without a patch, and all others with theirs', async () => {
    const names = ['a.txt', 'b.txt', 'c.txt', 'd.txt']
    for (const name of names) rig.put(name, `${name} as it was`.repeat(50))
    const turn = await rig.turn('A', () => {
      for (const name of names) rig.put(name, `${name}: agent\n`)
    })
    const blobOf = (path: string, side: 'before' | 'after'): string => {
      const state = rig.deps.log.getManifest(turn).entries.find((entry) => entry.path === path)?.[side]
      if (state?.kind !== 'file') throw new DomainError('PATH_NOT_FOUND', { path })
      return state.blob
    }
    damage(blobOf('a.txt', 'before'), 'damaged')
    damage(blobOf('b.txt', 'before'), 'removed')
    damage(blobOf('d.txt', 'after'), 'damaged')
    const lost = { binary: true, additions: 0, deletions: 0, hunks: [] }
    const whole = { binary: false, patch: expect.stringContaining('-c.txt as it was') }
    const diff = await runHere('diff', turn, '--json')
    expect(diff).toMatchObject({ code: 0, json: { files: [lost, lost, whole, lost] } })
    expect(diff.talk).toMatch(/a\.txt.*HASH_MISMATCH.*\nb\.txt.*NOT_FOUND.*\nd\.txt.*HASH_MISMATCH/)
    const preview = await runHere('preview', turn, '--path', 'c.txt', '--path', 'd.txt', '--diff', '--json')
    const back = { binary: false, patch: expect.stringContaining('+c.txt as it was') }
    // What d.txt holds now could not be had again, so it is not taken away.
    const conflicts = [{ path: 'd.txt', reason: 'missing-blob' }]
    expect(preview).toMatchObject({ code: 0, json: { restore: ['c.txt'], conflicts, files: [back] } })
  })

  async function runHere(...words: string[]): Promise<{ code: number; json: unknown; talk: string }> {
    let out = ''
    const talk: string[] = []
    const env = { HOME: rig.top, TURNBACK_HOME: rig.home }
    const code = await runCommandLine(
      words,
      { env, folder: rig.root, pid: process.pid, isPerson: false },
      {
        out: (text) => {
          out += Buffer.from(text).toString('utf8')
        },
        talk: (text) => talk.push(text),
        readStdin: async () => '',
      },
    )
    return { code, json: JSON.parse(out), talk: talk.join('') }
  }

  function damage(blob: string, how: 'damaged' | 'removed'): void {
    const store = join(rig.home, 'store')
    const db = new DatabaseSync(join(store, 'turnback.db'))
    const row = db
      .prepare(
        'SELECT p.name, b.at, b.stored, b.inner FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.id = ?',
      )
      .get(blob)
    if (how === 'removed') db.prepare('DELETE FROM blobs WHERE id = ?').run(blob)
    // Of those that lie together in a block, this one alone.
    const isInBlock = row !== undefined && row.inner !== null
    if (isInBlock) db.prepare('UPDATE blobs SET inner = inner + 1 WHERE id = ?').run(blob)
    db.close()
    if (how === 'removed' || row === undefined || isInBlock) return
    const fd = openSync(join(store, 'packs', String(row.name)), 'r+')
    writeSync(fd, Buffer.alloc(Number(row.stored), 1), 0, Number(row.stored), Number(row.at))
    closeSync(fd)
  }
})

test('one restore at a time: a second one is refused and does nothing', async () => {
  rig.put('a.txt', 'v1')
  const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
  await rig.deps.leases.run(rig.workspace, 'restore', async () => {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'support/restore-killed.ts'), rig.top, turn, '-1'],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    let said = ''
    child.stderr.on('data', (piece) => {
      said += String(piece)
    })
    const [code] = await once(child, 'close')
    expect([code, said.includes('RESTORE_RUNNING')]).toEqual([1, true])
  })
  expect(rig.read('a.txt')).toBe('agent')
})
