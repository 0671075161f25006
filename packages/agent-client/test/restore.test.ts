import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type RestoreFacts, restoreReportSchema, undoneMarks } from '@turnback/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openRig, type Rig } from './support/restore-rig.ts'
import { differences } from './support/tree-snapshot.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
    cwd: rig.root,
    encoding: 'utf8',
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  })

test('the sample turn: every byte and mode goes back, and undoing that brings the agent’s work again', async () => {
  rig.put('.gitignore', '.env\n')
  rig.put('index.html', '<title>old</title>\n')
  rig.put('styles.css', 'a { margin: 0 }\n'.repeat(212))
  rig.put('app.js', 'one()\n')
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-qm', 'base')
  rig.put('.env', 'DB=prod\n', 0o600)
  rig.put('index.html', '<title>mine, not committed</title>\n')
  rig.put('notes.md', 'untracked\n')
  const index = readFileSync(join(rig.root, '.git/index'))
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    rig.put('styles.css', 'a { margin: 0 }\n'.repeat(41))
    rig.put('index.html', '<link href=theme.css>\n')
    rig.put('theme.css', 'b {}\n')
    rig.put('app.js', 'two()\n')
    execFileSync('sed', ['-i', 's/prod/localhost/', '.env'], { cwd: rig.root })
  })
  const agents = rig.snapshot()
  const report = await rig.restore(turn)
  expect(report).toMatchObject({
    status: 'done',
    restored: ['.env', 'app.js', 'index.html', 'styles.css'],
    deleted: ['theme.css'],
    kept: [],
    failed: [],
    of: [turn],
    verified: true,
    recovered: false,
  })
  expect(differences(before, rig.snapshot())).toEqual([])
  expect(readFileSync(join(rig.root, '.git/index'))).toEqual(index)
  const back = await rig.restore(report.turn ?? turn)
  expect(back).toMatchObject({
    status: 'done',
    restored: ['.env', 'app.js', 'index.html', 'styles.css', 'theme.css'],
  })
  expect(differences(agents, rig.snapshot())).toEqual([])
})

test('a turn that changed nothing (B06): nothing moves, and the step counts', async () => {
  rig.put('a', 'dirty')
  utimesSync(join(rig.root, 'a'), 1_600_000_000, 1_600_000_000)
  const turn = await rig.turn('A', () => rig.read('a'))
  const was = statSync(join(rig.root, 'a'), { bigint: true })
  expect(await rig.restore(turn)).toMatchObject({
    status: 'nothing-to-do',
    restored: [],
    deleted: [],
    kept: [],
    failed: [],
    skipped: [],
    unchanged: 0,
    of: [turn],
  })
  const is = statSync(join(rig.root, 'a'), { bigint: true })
  expect([is.ino, is.mtimeNs, is.ctimeNs]).toEqual([was.ino, was.mtimeNs, was.ctimeNs])
})

test('files and folders that changed places (B11), also with a later file of the user’s in the way', async () => {
  rig.put('conf', 'k=v\n')
  rig.put('data/1.txt', 'one\n')
  rig.put('data/deep/2.txt', 'two\n')
  rig.put('z.txt', 'z\n')
  const before = rig.snapshot()
  const work = (): void => {
    rmSync(join(rig.root, 'conf'))
    rig.put('conf/main.ini', 'k=v2\n')
    rig.put('conf/deep/x.ini', 'x\n')
    rmSync(join(rig.root, 'data'), { recursive: true })
    rig.put('data', 'now a file\n')
    rig.put('z.txt', 'zz\n')
  }
  const first = await rig.restore(await rig.turn('A', work))
  expect(differences(before, rig.snapshot())).toEqual([])
  expect(first).toMatchObject({
    restored: ['conf', 'data/1.txt', 'data/deep/2.txt', 'z.txt'],
    deleted: ['conf/deep/x.ini', 'conf/main.ini'],
  })

  const turn = await rig.turn('A', work)
  rig.put('conf/mine.ini', 'later\n')
  const second = await rig.restore(turn)
  expect(second).toMatchObject({ status: 'done', restored: ['data/1.txt', 'data/deep/2.txt', 'z.txt'] })
  expect(second.kept).toMatchObject([{ path: 'conf', reason: 'directory-not-empty' }])
  expect(rig.read('conf/mine.ini')).toBe('later\n')
  expect(rig.read('data/deep/2.txt')).toBe('two\n')
})

test('files that are as wanted are not touched (B12)', async () => {
  for (let i = 0; i < 50; i++) rig.put(`s/${i}.txt`, `${i}`)
  rig.put('e.txt', 'v1')
  const facts = (): string[] =>
    Array.from({ length: 50 }, (_, i) => statSync(join(rig.root, `s/${i}.txt`), { bigint: true })).map(
      (stat) => `${stat.ino} ${stat.mtimeNs} ${stat.ctimeNs}`,
    )
  const turn = await rig.turn('A', () => {
    rig.put('e.txt', 'v2')
    rig.put('n.txt', 'new')
  })
  const was = facts()
  expect(await rig.restore(turn)).toMatchObject({ restored: ['e.txt'], deleted: ['n.txt'], unchanged: 0 })
  expect(facts()).toEqual(was)
})

test('what others left in the tree stays (B13)', async () => {
  rig.put('.gitignore', 'cache/\n.env\n')
  rig.put('src/a.txt', 'v1')
  rig.put('output/run1.jsonl', 'x'.repeat(10_000))
  rig.put('.env', 'TOKEN=local')
  rig.put('cache/deep/er/blob', 'c')
  const turn = await rig.turn('A', () => {
    rig.put('src/a.txt', 'agent')
    rig.put('src/new.txt', 'agent')
  })
  rig.put('output/run4.jsonl', 'later')
  rig.put('scratch/later.txt', 'made after the turn')
  const before = rig.snapshot()
  const report = await rig.restore(turn)
  expect(report).toMatchObject({ restored: ['src/a.txt'], deleted: ['src/new.txt'], kept: [] })
  expect(differences(before, rig.snapshot())).toEqual(['src/a.txt: content', 'src/new.txt: gone'])
})

test('modes (B24)', async () => {
  rig.put('run.sh', '#!/bin/sh\n', 0o755)
  rig.put('tool.py', '#!/usr/bin/env python3\n', 0o755)
  rig.put('plain.txt', 'p\n', 0o644)
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    rmSync(join(rig.root, 'run.sh'))
    rig.put('run.sh', '#!/bin/sh\necho agent\n', 0o644)
    chmodSync(join(rig.root, 'tool.py'), 0o644)
    chmodSync(join(rig.root, 'plain.txt'), 0o755)
  })
  const untouched = statSync(join(rig.root, 'tool.py'))
  expect((await rig.restore(turn)).restored).toEqual(['plain.txt', 'run.sh', 'tool.py'])
  expect(differences(before, rig.snapshot())).toEqual([])
  const after = statSync(join(rig.root, 'tool.py'))
  expect([after.ino, after.mtimeMs], 'a mode alone is a chmod').toEqual([untouched.ino, untouched.mtimeMs])
})

test('links that lead out of the tree (B26)', async () => {
  const outside = join(rig.top, 'outside')
  mkdirSync(join(outside, 'sub'), { recursive: true })
  for (const name of ['victim.txt', 'sub/inner.txt']) writeFileSync(join(outside, name), 'agent')
  const facts = (): string[] =>
    ['victim.txt', 'sub/inner.txt', 'sub', '.'].map((name) => {
      const stat = statSync(join(outside, name), { bigint: true })
      return `${stat.ino} ${stat.mode} ${stat.mtimeNs} ${stat.ctimeNs}`
    })
  for (const name of ['config.txt', 'sub/inner.txt', 'plain.txt']) rig.put(name, 'v1')
  const turn = await rig.turn('A', () => {
    for (const name of ['config.txt', 'sub/inner.txt', 'plain.txt']) rig.put(name, 'agent')
  })
  rmSync(join(rig.root, 'config.txt'))
  symlinkSync(join(outside, 'victim.txt'), join(rig.root, 'config.txt'))
  rmSync(join(rig.root, 'sub'), { recursive: true })
  symlinkSync(join(outside, 'sub'), join(rig.root, 'sub'))
  const was = facts()
  const report = await rig.restore(turn)
  expect(report.restored).toEqual(['plain.txt'])
  expect(report.kept.map((item) => item.path)).toEqual(['config.txt', 'sub/inner.txt'])
  expect(facts()).toEqual(was)

  const forced = await rig.restore(turn, { onConflict: 'save' })
  expect(forced.restored).toContain('config.txt')
  expect(lstatSync(join(rig.root, 'config.txt')).isFile()).toBe(true)
  expect(rig.read('config.txt')).toBe('v1')
  expect(facts()).toEqual(was)
})

test('binary files, byte for byte (B34)', async () => {
  writeFileSync(
    join(rig.root, 'logo.png'),
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0xff, 0xfe]),
  )
  writeFileSync(join(rig.root, 'app.db'), randomBytes(300_000))
  writeFileSync(join(rig.root, 'disk.img'), randomBytes(3_000_000))
  writeFileSync(join(rig.root, 't.txt'), 'text\0with\0nul\n')
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    rig.put('logo.png', 'broken')
    truncateSync(join(rig.root, 'app.db'), 1000)
    rmSync(join(rig.root, 'disk.img'))
    rig.put('t.txt', 'text\n')
  })
  expect((await rig.restore(turn)).restored).toEqual(['app.db', 'disk.img', 'logo.png', 't.txt'])
  expect(differences(before, rig.snapshot())).toEqual([])
})

test('nested repositories and a .git file (B39)', async () => {
  writeFileSync(join(rig.root, '.git'), 'gitdir: /somewhere/else\n')
  rig.put('app.txt', 'v1')
  rig.put('pkgs/inner/in.txt', 'v1')
  execFileSync('git', ['init', '-q'], { cwd: join(rig.root, 'pkgs/inner') })
  const inner = statSync(join(rig.root, 'pkgs/inner/.git'), { bigint: true })
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    rig.put('app.txt', 'agent')
    rig.put('pkgs/inner/in.txt', 'agent')
    rig.put('pkgs/inner/new.txt', 'agent')
  })
  expect(await rig.restore(turn)).toMatchObject({
    restored: ['app.txt', 'pkgs/inner/in.txt'],
    deleted: ['pkgs/inner/new.txt'],
  })
  expect(differences(before, rig.snapshot())).toEqual([])
  expect(statSync(join(rig.root, 'pkgs/inner/.git'), { bigint: true }).ctimeNs).toBe(inner.ctimeNs)
})

test('a repository that the turn made is kept whole', async () => {
  rig.put('app.txt', 'v1')
  const turn = await rig.turn('A', () => {
    rig.put('app.txt', 'agent')
    rig.put('made/file.txt', 'x')
    execFileSync('git', ['init', '-q'], { cwd: join(rig.root, 'made') })
  })
  const report = await rig.restore(turn)
  expect(report.restored).toEqual(['app.txt'])
  expect(report.kept).toMatchObject([{ path: 'made/file.txt', reason: 'not-captured' }])
  expect(report.skipped).toEqual([{ path: 'made/.git', reason: 'nested-git-dir' }])
  expect(existsSync(join(rig.root, 'made/.git/HEAD'))).toBe(true)
})

test('a rename that changes letter case only (B57)', async () => {
  rig.put('Readme.md', 'one')
  rig.put('Src/Main.txt', 'm')
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    renameSync(join(rig.root, 'Readme.md'), join(rig.root, 'r.tmp'))
    renameSync(join(rig.root, 'r.tmp'), join(rig.root, 'README.md'))
    renameSync(join(rig.root, 'Src'), join(rig.root, 's.tmp'))
    renameSync(join(rig.root, 's.tmp'), join(rig.root, 'src'))
    rig.put('README.md', 'one, agent')
  })
  await rig.restore(turn)
  expect(differences(before, rig.snapshot())).toEqual([])
  expect(readdirSync(rig.root).toSorted()).toEqual(['Readme.md', 'Src'])
})

test('a folder of the user’s where a file is wanted (B59)', async () => {
  rig.put('a.txt', 'v1')
  rig.put('b.txt', 'v1')
  const turn = await rig.turn('A', () => {
    rig.put('a.txt', 'agent')
    rig.put('b.txt', 'agent')
  })
  rmSync(join(rig.root, 'b.txt'))
  rig.put('b.txt/in.txt', 'user')
  const report = await rig.restore(turn)
  expect(report).toMatchObject({ status: 'done', restored: ['a.txt'] })
  expect(report.kept).toMatchObject([{ path: 'b.txt', reason: 'type-changed' }])
  expect(rig.read('b.txt/in.txt')).toBe('user')
})

test('empty folders come and go with their modes', async () => {
  mkdirSync(join(rig.root, 'empty/inner'), { recursive: true })
  chmodSync(join(rig.root, 'empty'), 0o750)
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    rmSync(join(rig.root, 'empty'), { recursive: true })
    mkdirSync(join(rig.root, 'made/deep'), { recursive: true })
  })
  const report = await rig.restore(turn)
  expect(report).toMatchObject({
    restored: [],
    deleted: [],
    directories: { restored: ['empty', 'empty/inner'], deleted: ['made', 'made/deep'], kept: [] },
  })
  expect(differences(before, rig.snapshot())).toEqual([])
})

test('what a restore wrote is remembered without a look through all folders for each file', async () => {
  for (let i = 0; i < 40; i++) rig.put(`d${i}/f`, 'v1')
  rig.put('kind/deep/f', 'v1')
  const turn = await rig.turn('A', () => {
    for (let i = 0; i < 40; i++) rig.put(`d${i}/f`, 'agent')
    rmSync(join(rig.root, 'kind'), { recursive: true })
    rig.put('kind', 'a file')
  })
  let looks = 0
  const { captureLog } = rig.deps
  const load = captureLog.loadKnown.bind(captureLog)
  vi.spyOn(captureLog, 'loadKnown').mockImplementation((workspace) => {
    const known = new Map(load(workspace))
    const keys = known.keys.bind(known)
    known.keys = () => {
      looks++
      return keys()
    }
    return known
  })
  const { turn: undo } = await rig.restore(turn)
  expect(looks).toBeLessThan(10)
  // A folder that a file took the place of is forgotten with all below it: the next scan finds nothing new.
  await rig.restore(undo ?? turn)
  await rig.turn('A', () => {})
  expect(rig.turns().map(({ kind }) => kind)).toEqual(['agent', 'restore', 'restore', 'agent'])
})

test('names that look like patterns, and a single path (B22)', async () => {
  for (const name of ['app/[lang]/page.tsx', 'app/l/page.tsx', 'app/*.txt', ':(top)x', '?.md'])
    rig.put(name, 'v1')
  const before = rig.snapshot()
  const turn = await rig.turn('A', () => {
    for (const name of ['app/[lang]/page.tsx', 'app/l/page.tsx', 'app/*.txt', ':(top)x', '?.md'])
      rig.put(name, 'agent')
  })
  expect(await rig.restore(turn, { paths: ['nobody/touched'] })).toMatchObject({
    status: 'nothing-to-do',
    of: [],
  })
  expect(rig.undone(turn), 'nothing of it was').toBe('no')
  const single = await rig.restore(turn, { paths: ['app/[lang]/page.tsx'] })
  expect(single).toMatchObject({ restored: ['app/[lang]/page.tsx'], status: 'done' })
  expect([rig.read('app/l/page.tsx'), rig.read('app/*.txt')]).toEqual(['agent', 'agent'])
  await rig.restore(turn)
  expect(differences(before, rig.snapshot())).toEqual([])
})

test('what is undone can be told from the manifests alone', async () => {
  rig.put('a', '1')
  const t1 = await rig.turn('A', () => rig.put('a', '2'))
  const t2 = await rig.turn('A', () => rig.put('b', '1'))
  const t3 = await rig.turn('A', () => rig.put('c', '1'))
  await rig.undo()
  await rig.restore(t1, { paths: ['a', 'c'] })
  await rig.undo()
  await rig.redo()
  const facts = rig.turns().flatMap(({ turn }): RestoreFacts[] => {
    const { restore, number } = rig.deps.log.getManifest(turn)
    if (restore === undefined) return []
    const { target, takenBack, of, status, paths } = restore
    return [{ turn, number, target, takenBack, of, status, isWhole: paths === null }]
  })
  const marks = undoneMarks(facts)
  const told = [t1, t2, t3].map((turn) => marks.get(turn) ?? 'no')
  expect(told).toEqual([t1, t2, t3].map((turn) => rig.undone(turn)))
  expect(told, 'of the second turn nothing was undone, and its undo was taken back').toEqual([
    'partly',
    'no',
    'yes',
  ])
})

test('a file with a second name elsewhere: the other keeps its bytes, and the report says that they parted', async () => {
  rig.put('a', 'v1')
  linkSync(join(rig.root, 'a'), join(rig.top, 'elsewhere'))
  const turn = await rig.turn('A', () => rig.put('a', 'agent'))
  const report = await rig.restore(turn)
  expect(restoreReportSchema.parse(report)).toMatchObject({
    status: 'done',
    restored: ['a'],
    lost: [{ path: 'a', what: 'hard-link' }],
  })
  expect([rig.read('a'), readFileSync(join(rig.top, 'elsewhere'), 'utf8')]).toEqual(['v1', 'agent'])
  expect(await rig.redo()).not.toHaveProperty('lost')
})

test('undo, redo and a chain of them (contract rule 7)', async () => {
  const state = (): string => rig.list().join(' ')
  const add = (name: string) => rig.turn('A', () => rig.put(name, name))
  await add('T1')
  await add('T2')
  await add('T3')
  const seen: string[] = []
  for (const step of ['undo', 'undo', 'redo', 'T4', 'undo', 'undo', 'undo', 'undo'] as const) {
    if (step === 'T4') await add('T4')
    else seen.push(`${step} ${(await rig[step]()).status}`)
    seen.push(state())
  }
  expect(seen).toEqual([
    ...['undo done', 'T1 T2', 'undo done', 'T1', 'redo done', 'T1 T2'],
    'T1 T2 T4',
    ...['undo done', 'T1 T2', 'undo done', 'T1', 'undo done', '', 'undo nothing-to-do', ''],
  ])
  for (const wanted of ['T1', 'T1 T2', 'T1 T2 T4']) {
    expect((await rig.redo()).status).toBe('done')
    expect(state()).toBe(wanted)
  }
  const none = await rig.redo()
  expect(none).toMatchObject({ status: 'nothing-to-do', turn: null, restored: [] })
})
