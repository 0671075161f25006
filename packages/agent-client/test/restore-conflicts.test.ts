import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeId } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRig, type Rig } from './support/restore-rig.ts'
import { differences } from './support/tree-snapshot.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

const modeOf = (path: string): number => statSync(join(rig.root, path)).mode & 0o7777

describe('edits made by hand after the turn (B15)', () => {
  async function handEdited(): Promise<`t_${string}`> {
    rig.put('app.txt', 'v1')
    rig.put('lib.txt', 'v1')
    const turn = await rig.turn('A', () => {
      for (const name of ['app.txt', 'lib.txt', 'gen.txt']) rig.put(name, 'agent')
    })
    rig.put('lib.txt', 'agent, fixed by hand')
    rig.put('gen.txt', 'agent, hand line')
    return turn
  }

  test('are kept and named by default', async () => {
    const turn = await handEdited()
    const preview = await rig.preview(turn)
    expect(preview).toMatchObject({ restore: ['app.txt'], delete: [], undoes: [turn] })
    expect(preview.conflicts.map(({ path, reason }) => [path, reason])).toEqual([
      ['gen.txt', 'changed-after-turn'],
      ['lib.txt', 'changed-after-turn'],
    ])
    const report = await rig.restore(turn)
    expect(report).toMatchObject({ status: 'done', restored: ['app.txt'], deleted: [] })
    expect(report.kept.map((item) => item.path)).toEqual(['gen.txt', 'lib.txt'])
    expect([rig.read('app.txt'), rig.read('lib.txt'), rig.read('gen.txt')]).toEqual([
      'v1',
      'agent, fixed by hand',
      'agent, hand line',
    ])
    expect((await rig.undo()).status, 'undo does not stick on what was kept').toBe('nothing-to-do')
  })

  test('are saved and replaced, and come back with redo', async () => {
    const turn = await handEdited()
    const before = rig.snapshot()
    const report = await rig.restore(turn, { onConflict: 'save' })
    expect(report).toMatchObject({ restored: ['app.txt', 'lib.txt'], deleted: ['gen.txt'], kept: [] })
    expect(report.alsoUndone.map((item) => item.path).toSorted()).toEqual(['gen.txt', 'lib.txt'])
    expect(rig.list()).toEqual(['app.txt', 'lib.txt'])
    await rig.redo()
    expect(differences(before, rig.snapshot())).toEqual([])
  })

  test('with fail nothing at all is done', async () => {
    const turn = await handEdited()
    const before = rig.snapshot()
    const report = await rig.restore(turn, { onConflict: 'fail' })
    expect(report).toMatchObject({
      status: 'refused',
      turn: null,
      restored: [],
      error: { code: 'CONFLICTS' },
    })
    expect(report.error?.details).toEqual({ paths: ['gen.txt', 'lib.txt'] })
    expect(differences(before, rig.snapshot())).toEqual([])
    expect(rig.undone(turn)).toBe('no')
  })

  test('are merged when both can be had, and kept when not', async () => {
    const lines = (second: string, ninth: string): string =>
      ['1', second, '3', '4', '5', '6', '7', '8', ninth, '10', ''].join('\n')
    rig.put('clean.txt', lines('2', '9'))
    rig.put('torn.txt', lines('2', '9'))
    const turn = await rig.turn('A', () => {
      rig.put('clean.txt', lines('agent', '9'))
      rig.put('torn.txt', lines('agent', '9'))
    })
    rig.put('clean.txt', lines('agent', 'by hand'))
    rig.put('torn.txt', lines('agent, by hand', '9'))
    const before = rig.snapshot()
    const preview = await rig.preview(turn, { onConflict: 'merge' })
    expect(preview.merge).toEqual(['clean.txt'])
    const report = await rig.restore(turn, { onConflict: 'merge' })
    expect(report).toMatchObject({ status: 'done', merged: ['clean.txt'], restored: [] })
    expect(report.kept).toMatchObject([{ path: 'torn.txt', reason: 'changed-after-turn' }])
    expect(rig.read('clean.txt')).toBe(lines('2', 'by hand'))
    await rig.redo()
    expect(differences(before, rig.snapshot())).toEqual([])
  })
})

test('line ends alone, another kind, a link: each is told by its name', async () => {
  for (const name of ['crlf.txt', 'kind.txt', 'link.txt']) rig.put(name, 'v1\n')
  const turn = await rig.turn('A', () => {
    for (const name of ['crlf.txt', 'kind.txt', 'link.txt']) rig.put(name, 'agent\nwork\n')
  })
  rig.put('crlf.txt', 'agent\r\nwork\r\n')
  for (const name of ['kind.txt', 'link.txt']) rmSync(join(rig.root, name))
  mkdirSync(join(rig.root, 'kind.txt'))
  symlinkSync('crlf.txt', join(rig.root, 'link.txt'))
  const report = await rig.restore(turn)
  expect(report.kept.map(({ path, reason }) => [path, reason])).toEqual([
    ['crlf.txt', 'line-endings-only'],
    ['kind.txt', 'type-changed'],
    ['link.txt', 'type-changed'],
  ])
})

test('a chmod by hand alone is no conflict: bytes go back, the mode stays', async () => {
  rig.put('run.sh', 'v1', 0o644)
  rig.put('new.sh', 'x')
  rmSync(join(rig.root, 'new.sh'))
  const turn = await rig.turn('A', () => {
    rig.put('run.sh', 'agent', 0o644)
    rig.put('new.sh', 'agent', 0o644)
  })
  chmodSync(join(rig.root, 'run.sh'), 0o755)
  chmodSync(join(rig.root, 'new.sh'), 0o755)
  const report = await rig.restore(turn)
  expect(report.restored).toEqual(['run.sh'])
  expect([rig.read('run.sh'), modeOf('run.sh')]).toEqual(['v1', 0o755])
  expect(report.kept).toMatchObject([{ path: 'new.sh', reason: 'changed-after-turn' }])
})

test('another session’s work stays (B29), also when it lies between', async () => {
  for (const name of ['a.txt', 'b.txt', 'shared.txt', 'between.txt']) rig.put(name, 'v1')
  const first = await rig.turn('A', () => {
    for (const name of ['a.txt', 'a_new.txt', 'shared.txt', 'between.txt']) rig.put(name, 'by A')
  })
  const other = await rig.turn('B', () => {
    for (const name of ['b.txt', 'b_new.txt']) rig.put(name, 'by B')
    rig.put('shared.txt', 'by A and by B')
    rig.put('between.txt', 'by B')
  })
  await rig.turn('A', () => rig.put('between.txt', 'by A again'))
  const report = await rig.restore(first)
  expect(report).toMatchObject({ restored: ['a.txt'], deleted: ['a_new.txt'] })
  expect(report.kept).toEqual([
    { path: 'between.txt', reason: 'interleaved-with-other-session', turn: other, session: 'B' },
    { path: 'shared.txt', reason: 'owned-by-other-session', turn: other, session: 'B' },
  ])
  expect([rig.read('b.txt'), rig.read('b_new.txt'), rig.read('shared.txt')]).toEqual([
    'by B',
    'by B',
    'by A and by B',
  ])
  const all = await rig.restore(first, { scope: 'all-sessions' })
  expect(all.kept).toEqual([])
  expect(rig.list()).toEqual(['a.txt', 'b.txt', 'between.txt', 'shared.txt'])
  for (const name of rig.list()) expect(rig.read(name)).toBe('v1')
})

test('one turn out of the middle keeps the later ones', async () => {
  const lines = (...changed: [number, string][]): string =>
    Array.from({ length: 12 }, (_, i) => changed.find(([at]) => at === i)?.[1] ?? `${i}`).join('\n')
  rig.put('a.txt', lines())
  const one = await rig.turn('A', () => {
    rig.put('a.txt', lines([1, 'one']))
    rig.put('gone-later.txt', 'made by one')
  })
  await rig.turn('A', () => {
    rig.put('a.txt', lines([1, 'one'], [10, 'two']))
    rig.put('gone-later.txt', 'made by one, edited by two')
  })
  const report = await rig.restore(one, { scope: 'turn' })
  expect(report).toMatchObject({ merged: ['a.txt'], deleted: [] })
  expect(report.kept).toMatchObject([{ path: 'gone-later.txt', reason: 'changed-after-turn' }])
  expect(rig.read('a.txt')).toBe(lines([10, 'two']))
})

test('a hunk goes back alone', async () => {
  const lines = (second: string, tenth: string): string =>
    Array.from({ length: 20 }, (_, i) => (i === 1 ? second : i === 15 ? tenth : `${i}`)).join('\n')
  rig.put('a.txt', lines('1', '15'))
  const turn = await rig.turn('A', () => rig.put('a.txt', lines('agent', 'agent')))
  const [patch] = rig.diff(turn)
  expect(patch?.hunks).toHaveLength(2)
  const report = await rig.restore(turn, { hunks: [{ path: 'a.txt', id: patch?.hunks[1]?.id ?? '' }] })
  expect(report.status).toBe('done')
  expect(rig.read('a.txt')).toBe(lines('agent', '15'))
  expect(rig.undone(turn)).toBe('partly')
})

describe('tokens', () => {
  async function one(): Promise<`t_${string}`> {
    rig.put('a.txt', 'v1')
    rig.put('b.txt', 'v1')
    return rig.turn('A', () => rig.put('a.txt', 'agent'))
  }

  test('hold over unrelated turns and work once', async () => {
    const turn = await one()
    const { token } = await rig.preview(turn)
    await rig.turn('B', () => rig.put('b.txt', 'by B'))
    rig.put('c.txt', 'by hand')
    expect(await rig.restore(turn, {}, { token })).toMatchObject({ status: 'done', restored: ['a.txt'] })
    await expect(rig.restore(turn, {}, { token })).rejects.toMatchObject({ code: 'PLAN_UNKNOWN' })
  })

  test('are stale when a path of the plan changed, which is named; nothing is done', async () => {
    const turn = await one()
    const { token } = await rig.preview(turn)
    rig.put('a.txt', 'agent, and a hand')
    const report = await rig.restore(turn, {}, { token })
    expect(report).toMatchObject({ status: 'refused', turn: null, error: { code: 'TOKEN_STALE' } })
    expect(report.error?.details).toMatchObject({ paths: ['a.txt'] })
    expect(rig.read('a.txt')).toBe('agent, and a hand')
    rig.put('a.txt', 'agent')
  })

  test('are stale when only a mode changed, or HEAD', async () => {
    const turn = await one()
    const first = await rig.preview(turn)
    chmodSync(join(rig.root, 'a.txt'), 0o600)
    expect((await rig.restore(turn, {}, { token: first.token })).error).toMatchObject({ code: 'TOKEN_STALE' })
    const second = await rig.preview(turn)
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: rig.root })
    expect((await rig.restore(turn, {}, { token: second.token })).error).toMatchObject({
      code: 'TOKEN_STALE',
      details: { head: true },
    })
  })

  test('are for one wish, ten minutes and one machine', async () => {
    const turn = await one()
    const { token } = await rig.preview(turn)
    const unknown = { code: 'PLAN_UNKNOWN' }
    await expect(rig.restore(turn, { onConflict: 'save' }, { token })).rejects.toMatchObject(unknown)
    await expect(rig.restore(turn, {}, { token: 'f'.repeat(64) })).rejects.toMatchObject(unknown)
    rig.passMinutes(11)
    await expect(rig.restore(turn, {}, { token })).rejects.toMatchObject(unknown)
    expect(rig.read('a.txt')).toBe('agent')
  })
})

describe('HEAD', () => {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: rig.root,
      encoding: 'utf8',
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    }).trim()

  async function committed(): Promise<`t_${string}`> {
    rig.put('a.txt', 'v1')
    git('init', '-q', '-b', 'main')
    git('add', '-A')
    git('commit', '-qm', 'base')
    return rig.turn('A', () => rig.put('a.txt', 'agent'))
  }

  test('that went forward is said and is no obstacle', async () => {
    const turn = await committed()
    const then = git('rev-parse', 'HEAD')
    git('commit', '-qam', 'the agent’s work')
    const now = git('rev-parse', 'HEAD')
    expect((await rig.preview(turn)).head).toEqual({ then, now })
    expect(await rig.restore(turn)).toMatchObject({ status: 'done', restored: ['a.txt'] })
    expect(git('rev-parse', 'HEAD'), 'HEAD is never moved').toBe(now)
  })

  test('that moved elsewhere refuses, unless allowed', async () => {
    const turn = await committed()
    git('checkout', '-q', '--orphan', 'other')
    git('commit', '-qm', 'elsewhere')
    const report = await rig.restore(turn)
    expect(report).toMatchObject({ status: 'refused', turn: null, error: { code: 'HEAD_MOVED' } })
    expect(rig.read('a.txt')).toBe('agent')
    expect(await rig.restore(turn, {}, { allowHeadChange: true })).toMatchObject({ status: 'done' })
  })

  test('is measured against the branch at the turn’s end: one that the turn itself made is no other', async () => {
    await committed()
    const turn = await rig.turn('A', () => {
      git('checkout', '-q', '-b', 'x')
      rig.put('a.txt', 'on x')
    })
    git('commit', '-qam', 'the user’s, on x')
    expect(rig.deps.log.getManifest(turn).git.branch).toBe('x')
    expect(await rig.restore(turn)).toMatchObject({ status: 'done', restored: ['a.txt'] })
    // The branch that the turn began on is another one by now, though the commit lies ahead of where it ended.
    const later = await rig.turn('A', () => {
      git('checkout', '-q', '-b', 'y')
      rig.put('a.txt', 'on y')
    })
    git('checkout', '-q', 'x')
    git('commit', '-qam', 'the user’s, back on x')
    expect(await rig.restore(later)).toMatchObject({ status: 'refused', error: { code: 'HEAD_MOVED' } })
  })

  test('that git can not read any more is no obstacle', async () => {
    const turn = await committed()
    rmSync(join(rig.root, '.git/HEAD'))
    expect(await rig.restore(turn)).toMatchObject({ status: 'done', restored: ['a.txt'] })
  })
})

test('asking only (dry run) changes nothing and says so', async () => {
  rig.put('a.txt', 'v1')
  const turn = await rig.turn('A', () => rig.put('a.txt', 'agent'))
  const report = await rig.restore(turn, {}, { dryRun: true })
  expect(report).toMatchObject({
    dryRun: true,
    turn: null,
    restored: ['a.txt'],
    verified: false,
    status: 'done',
  })
  expect(rig.read('a.txt')).toBe('agent')
  expect(rig.undone(turn)).toBe('no')
})

test('a turn that nobody knows, and an outside one, are refused', async () => {
  rig.put('a.txt', 'v1')
  await rig.turn('A', () => rig.put('a.txt', 'agent'))
  rig.put('a.txt', 'by hand')
  await rig.turn('A', () => {})
  const outside = rig.turns().find((row) => row.kind === 'outside')
  const unknown = makeId('t', 1, new Uint8Array(10))
  await expect(rig.restore(unknown)).rejects.toMatchObject({ code: 'TURN_NOT_FOUND' })
  await expect(rig.restore(outside?.turn ?? unknown)).rejects.toMatchObject({ code: 'NOT_RESTORABLE' })
})
