import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { previewSchema, restoreReportSchema } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { runCommandLine } from '#cli/run.ts'
import { differences, snapshotTree } from './support/tree-snapshot.ts'

let top = ''
let root = ''
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'restore-cli-')))
  root = join(top, 'w')
  mkdirSync(root)
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

interface Ran {
  readonly code: number
  readonly bytes: Buffer
  readonly said: string
}

/** One command line in this process, in a folder below the root. */
async function run(folder: string, ...args: string[]): Promise<Ran> {
  const out: Buffer[] = []
  let said = ''
  const env = { TURNBACK_HOME: join(top, 'home'), HOME: join(top, 'user'), PATH: process.env.PATH }
  const code = await runCommandLine(
    args,
    { env, folder: join(root, folder), pid: process.pid, isPerson: false },
    {
      out: (text) => out.push(Buffer.from(text)),
      talk: (text) => {
        said += text
      },
      readStdin: async () => '',
    },
  )
  return { code, bytes: Buffer.concat(out), said }
}

async function json(folder: string, ...args: string[]): Promise<{ code: number; value: unknown }> {
  const { code, bytes } = await run(folder, ...args, '--json')
  return { code, value: JSON.parse(bytes.toString('utf8')) }
}

const errorSchema = z.object({ error: z.object({ code: z.string(), details: z.unknown() }) })

async function report(folder: string, ...args: string[]) {
  const { code, value } = await json(folder, ...args)
  return { code, ...restoreReportSchema.parse(value) }
}

async function refusal(folder: string, ...args: string[]): Promise<[number, string]> {
  const { code, value } = await json(folder, ...args)
  return [code, errorSchema.parse(value).error.code]
}

function put(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

async function turn(work: () => void): Promise<void> {
  expect((await run('', 'begin', '--session', 'A')).code).toBe(0)
  work()
  expect((await run('', 'end', '--session', 'A')).code).toBe(0)
}

test('preview, restore, undo and redo: the contract’s objects and exit codes', async () => {
  put('src/a.txt', 'v1')
  await turn(() => {
    put('src/a.txt', 'agent')
    put('new.txt', 'agent')
  })
  const { code, value } = await json('', 'preview', 'last')
  const preview = previewSchema.parse(value)
  expect([code, preview.restore, preview.delete]).toEqual([0, ['src/a.txt'], ['new.txt']])
  const done = await report('', 'restore', 'last', '--token', preview.token)
  expect(done).toMatchObject({ code: 0, status: 'done', restored: ['src/a.txt'], deleted: ['new.txt'] })
  expect(done.requestedBy).toMatchObject({ kind: 'local' })
  expect(await report('', 'redo')).toMatchObject({
    code: 0,
    status: 'done',
    restored: ['new.txt', 'src/a.txt'],
  })
  expect(await report('', 'undo')).toMatchObject({ code: 0, status: 'done' })
  expect(await report('', 'undo')).toMatchObject({ code: 0, status: 'nothing-to-do', turn: null })
  const words = await run('', 'redo')
  expect(words.bytes.toString()).toContain('restored      src/a.txt\n')
  expect(words.bytes.toString()).toMatch(/Take this back: `turnback restore t_[0-9a-z]{26}`\.\n$/)
})

test('paths are read from where one stands and printed from the root; outside is exit 2', async () => {
  put('src/a.txt', 'v1')
  put('src/b.txt', 'v1')
  await turn(() => {
    put('src/a.txt', 'agent')
    put('src/b.txt', 'agent')
  })
  expect(await report('src', 'restore', 'last', '--path', 'a.txt')).toMatchObject({
    restored: ['src/a.txt'],
    code: 0,
  })
  expect(await report('src', 'restore', 'last', '--path', '../none')).toMatchObject({
    status: 'nothing-to-do',
  })
  expect(await report('src', 'restore', 'last', '--path', '.')).toMatchObject({
    restored: ['src/b.txt'],
    code: 0,
  })
  for (const path of ['../..', '/etc/passwd', '../../w2/a'])
    expect(await refusal('src', 'restore', 'last', '--path', path)).toEqual([2, 'OUTSIDE_ROOT'])
})

test('what is refused says so, with its code and exit', async () => {
  put('a.txt', 'v1')
  await turn(() => put('a.txt', 'agent'))
  const { value } = await json('', 'preview', 'last')
  put('a.txt', 'agent, and a hand')
  const stale = await report('', 'restore', 'last', '--token', previewSchema.parse(value).token)
  expect(stale).toMatchObject({
    code: 3,
    status: 'refused',
    error: { code: 'TOKEN_STALE', details: { paths: ['a.txt'] } },
  })
  expect(await report('', 'restore', 'last', '--on-conflict', 'fail')).toMatchObject({
    code: 3,
    status: 'refused',
    error: { code: 'CONFLICTS' },
  })
  expect(await refusal('', 'restore', 'last', '--token', 'none')).toEqual([3, 'PLAN_UNKNOWN'])
  expect(await refusal('', 'restore', '@99')).toEqual([1, 'TURN_NOT_FOUND'])
  expect(await refusal('', 'restore', 'last', '--on-conflict', 'maybe')).toEqual([2, 'USAGE'])
  expect(await refusal('', 'restore', 'last', '--only', '--session')).toEqual([2, 'USAGE'])
  expect(await refusal('', 'restore', 'last', '--hunk', 'a.txt')).toEqual([2, 'USAGE'])
  expect(await refusal('', 'restore')).toEqual([2, 'USAGE'])
  expect(await refusal('', 'recover')).toEqual([1, 'NO_RECOVERY'])
  await turn(() => {})
  const { turns } = z
    .object({ turns: z.array(z.object({ turn: z.string(), kind: z.string() })) })
    .parse((await json('', 'log')).value)
  const outside = turns.find((row) => row.kind === 'outside')?.turn ?? ''
  expect(await refusal('', 'restore', outside)).toEqual([2, 'NOT_RESTORABLE'])
  expect(await refusal('', 'preview', outside)).toEqual([2, 'NOT_RESTORABLE'])
})

test('a dry run prints the report and touches nothing', async () => {
  put('a.txt', 'v1')
  await turn(() => put('a.txt', 'agent'))
  const before = snapshotTree(root)
  expect(await report('', 'undo', '--dry-run')).toMatchObject({
    code: 0,
    dryRun: true,
    restored: ['a.txt'],
    turn: null,
  })
  expect(differences(before, snapshotTree(root))).toEqual([])
})

test('diff is a patch that git applies, forwards and backwards', async () => {
  put('changed.txt', 'one\ntwo\nthree\n')
  put('no newline', 'x')
  put('gone.txt', 'to be deleted\n')
  put('mode.sh', '#!/bin/sh\n')
  put('müll/ä b.txt', 'v1\n')
  put('binary', 'a\0b')
  symlinkSync('changed.txt', join(root, 'link'))
  await run('', 'init')
  const before = join(top, 'before')
  cpSync(root, before, { recursive: true, verbatimSymlinks: true })
  await turn(() => {
    put('changed.txt', 'one\n2\nthree\nfour\n')
    put('no newline', 'y')
    rmSync(join(root, 'gone.txt'))
    chmodSync(join(root, 'mode.sh'), 0o755)
    put('müll/ä b.txt', 'v2\n')
    put('new/file.txt', 'new\n')
    rmSync(join(root, 'link'))
    symlinkSync('gone.txt', join(root, 'link'))
  })
  const { bytes } = await run('', 'diff', 'last')
  const patch = join(top, 'patch')
  writeFileSync(patch, bytes)
  const git = (...args: string[]): void => {
    execFileSync('git', args, { cwd: before, env: { ...process.env, GIT_CEILING_DIRECTORIES: top } })
  }
  git('apply', patch)
  expect(differences(snapshotTree(root), snapshotTree(before))).toEqual([])
  git('apply', '-R', patch)

  const { value } = await json('', 'diff', 'last', 'changed.txt')
  const { files } = z
    .object({
      files: z.array(
        z.strictObject({
          path: z.string(),
          status: z.enum(['added', 'deleted', 'modified', 'mode', 'type']),
          additions: z.number(),
          deletions: z.number(),
          binary: z.boolean(),
          sealed: z.boolean(),
          patch: z.string(),
          hunks: z.array(z.strictObject({ id: z.string().regex(/^[0-9a-f]{8}$/), header: z.string() })),
        }),
      ),
    })
    .parse(value)
  expect(files).toMatchObject([{ path: 'changed.txt', status: 'modified', additions: 2, deletions: 1 }])
})

test('diff between two ends, either way round, restores included', async () => {
  put('a.txt', '1\n')
  await turn(() => put('a.txt', '2\n'))
  await turn(() => put('b.txt', 'b\n'))
  await turn(() => put('a.txt', '3\n'))
  await run('', 'undo')
  const patchOf = async (...args: string[]): Promise<string> =>
    (await run('', 'diff', ...args)).bytes.toString()
  expect(await patchOf('1', '3', '--stat')).toBe('modified +1 -1 a.txt\nadded    +1 -0 b.txt\n')
  expect(await patchOf('@3', '@1', 'a.txt')).toContain('-3\n+2\n')
  expect(await patchOf('1', '4', '--stat'), 'the undo took the third turn back').toBe(
    'added    +1 -0 b.txt\n',
  )
})

test('what preview --diff shows is what restore does', async () => {
  put('a.txt', 'one\ntwo\n')
  await turn(() => put('a.txt', 'one\n2\n'))
  const { bytes } = await run('', 'preview', 'last', '--diff')
  expect(bytes.toString()).toContain('-2\n+two\n')
  const { value } = await json('', 'preview', 'last', '--diff')
  expect(value).toMatchObject({ restore: ['a.txt'], files: [{ path: 'a.txt', additions: 1, deletions: 1 }] })
})
