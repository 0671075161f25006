import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'launcher-')))
const checkout = join(scratch, 'a checkout')

/** Stands in for the client: says what reached it. A worker reads the start options again after `chdir`. */
const client = `
import { DatabaseSync } from 'node:sqlite'
import { isMainThread, Worker } from 'node:worker_threads'
if (isMainThread) {
  new DatabaseSync(':memory:').close()
  const said: unknown = { args: process.argv.slice(2), cwd: process.cwd(), node: process.version, main: import.meta.main }
  process.chdir('/')
  new Worker(new URL(import.meta.url)).once('exit', (code) => {
    console.log(JSON.stringify(said))
    process.exitCode = code === 0 ? 4 : 99
  })
}
`

beforeAll(() => {
  for (const folder of ['bin', 'node_modules', 'packages/agent-client/src', 'not-installed/bin', 'links'])
    mkdirSync(join(checkout, folder), { recursive: true })
  for (const file of ['bin/turnback', 'bin/compile-cache.mjs']) {
    copyFileSync(join(root, file), join(checkout, file))
    copyFileSync(join(root, file), join(checkout, 'not-installed', file))
  }
  symlinkSync(join(root, 'node_modules/node24'), join(checkout, 'node_modules/node24'))
  writeFileSync(join(checkout, 'packages/agent-client/src/main.ts'), client)
  symlinkSync('../bin/turnback', join(checkout, 'links/relative'))
  symlinkSync('relative', join(checkout, 'links/chain'))
  symlinkSync(join(checkout, 'bin'), join(scratch, 'bin-of-another-place'))
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** [as typed, the directory it is typed in]. */
const ways: [command: string, cwd: string][] = [
  ['./bin/turnback', checkout],
  ['bin/turnback', checkout],
  [join(checkout, 'bin/turnback'), '/'],
  ['links/relative', checkout],
  [join(checkout, 'links/chain'), scratch],
  ['./chain', join(checkout, 'links')],
  ['bin-of-another-place/turnback', scratch],
]

const ran = (cwd: string, args: string[]) => ({
  args,
  cwd,
  node: expect.stringMatching(/^v24\./),
  main: true,
})

test.each(ways)('%s in %s runs the client there', (command, cwd) => {
  const run = spawnSync(command, ['undo', '--path', 'a b', ''], { cwd, encoding: 'utf8' })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toEqual(ran(cwd, ['undo', '--path', 'a b', '']))
  expect(run.status).toBe(4)
})

test('found by PATH, and named to sh without a folder', () => {
  const env = { ...process.env, PATH: `${join(checkout, 'links')}:${process.env.PATH}` }
  const onPath = 'chain'
  const byPath = spawnSync(onPath, ['log'], { cwd: scratch, env, encoding: 'utf8' })
  expect(JSON.parse(byPath.stdout)).toEqual(ran(scratch, ['log']))
  const bare = spawnSync('sh', ['turnback', 'log'], { cwd: join(checkout, 'bin'), encoding: 'utf8' })
  expect(JSON.parse(bare.stdout)).toEqual(ran(join(checkout, 'bin'), ['log']))
})

test('without an installation it says what to run', () => {
  const run = spawnSync(join(checkout, 'not-installed/bin/turnback'), ['status'], { encoding: 'utf8' })
  expect(run.status).toBe(1)
  expect(run.stdout).toBe('')
  expect(run.stderr).toContain(`Run 'npx -y pnpm@12 install' in ${join(checkout, 'not-installed')}.`)
})

test('a bundle is taken while no source is newer than it, and no folder has changed', () => {
  const client = join(checkout, 'packages/agent-client')
  const source = join(client, 'src/cli/log.ts')
  for (const folder of [
    join(client, 'src/cli'),
    join(client, 'dist/b-1'),
    join(checkout, 'packages/core/src/tree'),
  ])
    mkdirSync(folder, { recursive: true })
  writeFileSync(source, '')
  writeFileSync(join(checkout, 'pnpm-lock.yaml'), '')
  for (const entry of ['main', 'quick'])
    writeFileSync(join(client, `dist/b-1/${entry}.js`), `console.log('${entry} of the bundle')`)
  const current = join(client, 'dist/current')
  writeFileSync(current, 'b-1\n')
  const time = (path: string, seconds: number) => utimesSync(path, seconds, seconds)
  const run = (...args: string[]) =>
    spawnSync(join(checkout, 'bin/turnback'), args, { encoding: 'utf8' }).stdout.trim()
  const isFromSources = () => run('log').startsWith('{')
  try {
    time(current, Date.now() / 1000 + 100)
    expect(run('log')).toBe('main of the bundle')
    expect(run('-C', 'begin', 'undo')).toBe('main of the bundle')
    expect(run('--json', 'begin')).toBe('quick of the bundle')
    expect(run('hook', 'x')).toBe('quick of the bundle')
    // Each of these alone is enough, by a second.
    for (const changed of [
      source,
      join(client, 'src'),
      join(client, 'src/cli'),
      join(checkout, 'packages/core/src/tree'),
      join(checkout, 'pnpm-lock.yaml'),
    ]) {
      time(changed, Date.now() / 1000 + 101)
      expect([changed, isFromSources()]).toEqual([changed, true])
      time(changed, 1)
      expect([changed, isFromSources()]).toEqual([changed, false])
    }
    writeFileSync(current, 'b-2\n')
    time(current, Date.now() / 1000 + 100)
    expect(isFromSources()).toBe(true)
  } finally {
    rmSync(join(client, 'dist'), { recursive: true })
  }
}, 60_000)
