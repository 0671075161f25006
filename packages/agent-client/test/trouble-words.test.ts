import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gcParts } from '#cli/gc-parts.ts'
import { runCommandLine } from '#cli/run.ts'
import { CLIENT_VERSION } from '#client-version.ts'
import { collectGarbage } from '#store/gc.ts'
import { CaptureRig, canMount, PLAIN_UID } from './support/capture-rig.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('trouble')
})
afterEach(() => rig.dispose())

const home = () => join(rig.top, 'home')
const chmodTree = (uid: number) => execFileSync('chown', ['-R', `${uid}:${uid}`, rig.top])

interface Told {
  readonly code: number | null
  readonly out: string
  readonly words: string
}

async function run(args: readonly string[]): Promise<Told> {
  let [out, words] = ['', '']
  const streams = {
    out(text: string | Uint8Array) {
      out += Buffer.from(text).toString('utf8')
    },
    talk(text: string) {
      words += text
    },
    readStdin: async () => '{}',
  }
  const caller = { env: rig.env, folder: rig.root, pid: process.pid, isPerson: false }
  return { code: await runCommandLine(args, caller, streams), out, words }
}

async function runAsPlain(args: readonly string[]): Promise<Told> {
  const { code, stdout, stderr } = rig.run(args, PLAIN_UID === undefined ? {} : { uid: PLAIN_UID })
  return { code, out: stdout, words: stderr }
}

/** As a person reads it: no stack, the code, and what to do. */
async function told(args: readonly string[], by = run): Promise<Told> {
  const result = await by(args)
  expect(result.out).toBe('')
  expect(result.words).not.toMatch(/INTERNAL|^\s+at /m)
  return result
}

const COMMANDS = [['status'], ['begin', '--session', 's'], ['gc'], ['connect']]

async function expectUnusable(why: string, words: RegExp): Promise<void> {
  for (const args of COMMANDS) {
    const failed = await told(args)
    expect(failed, args[0]).toMatchObject({ code: 1, words: expect.stringMatching(words) })
    expect(failed.words).toMatch(/\(STORE_UNUSABLE\)\n(?:.*\n)*.*TURNBACK_HOME/)
    expect(JSON.parse((await run([...args, '--json'])).out)).toMatchObject({
      error: { code: 'STORE_UNUSABLE', details: { why, path: expect.stringContaining('/') } },
    })
  }
  // An agent hears nothing of it.
  expect(await run(['hook', 'claude-code'])).toEqual({ code: 0, out: '', words: '' })
}

/** The same by a user without rights, whom only a process of its own can play. */
async function expectClosed(args: readonly string[]): Promise<void> {
  const failed = await told(args, runAsPlain)
  expect(failed.code).toBe(1)
  expect(failed.words).toMatch(/you have no right to use it\. \(STORE_UNUSABLE\)/)
}

test('a home that is a file is told as one', async () => {
  writeFileSync(home(), 'a file')
  await expectUnusable('EEXIST', /cannot use .*home: something that is no folder is in its place\./)
})

test('a home below a file, or a link to nowhere, is told as one', async () => {
  writeFileSync(join(rig.top, 'file'), '')
  rig.env.TURNBACK_HOME = join(rig.top, 'file/home')
  await expectUnusable('ENOTDIR', /in its way/)
  rig.env.TURNBACK_HOME = join(rig.top, 'nowhere')
  symlinkSync(join(rig.top, 'gone/deep'), join(rig.top, 'nowhere'))
  await expectUnusable('EEXIST', /cannot use/)
})

test.skipIf(process.platform !== 'linux')('a home where no folder can be made is told, at once', async () => {
  rig.env.TURNBACK_HOME = '/proc/turnback'
  await expectUnusable('ENOENT', /cannot use \/proc\/turnback: it is not there and cannot be made there\./)
})

test('a home that this user may not write in is told as such, before and after there is a store in it', async () => {
  if (PLAIN_UID !== undefined) chmodTree(PLAIN_UID)
  mkdirSync(home())
  chmodSync(home(), 0o500)
  if (PLAIN_UID !== undefined) chmodTree(PLAIN_UID)
  await expectClosed(['status'])
  chmodSync(home(), 0o700)
  expect((await runAsPlain(['init'])).code).toBe(0)
  const closings = [
    ['store', 0o000, ['status']],
    ['store/packs', 0o000, ['status']],
    ['store/turnback.db', 0o400, ['begin', '--session', 's']],
  ] as const
  for (const [name, mode, args] of closings) {
    chmodSync(join(home(), name), mode)
    await expectClosed(args)
    chmodSync(join(home(), name), 0o700)
  }
})

test.skipIf(!canMount())('a home on a read-only disk is told as such', async () => {
  mkdirSync(home())
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', home()])
  try {
    execFileSync('mount', ['-o', 'remount,ro', home()])
    await expectUnusable('EROFS', /it lies on a disk that is read-only/)
    execFileSync('mount', ['-o', 'remount,rw', home()])
    expect((await run(['init'])).code).toBe(0)
    execFileSync('mount', ['-o', 'remount,ro', home()])
    await expectUnusable('EROFS', /it lies on a disk that is read-only/)
  } finally {
    execFileSync('umount', ['-l', home()])
  }
})

test('of broken settings the file and the place in it are named', async () => {
  mkdirSync(home())
  const config = join(home(), 'config.json')
  writeFileSync(config, '{\n  "watch": "auto",\n  nonsense\n}\n')
  const failed = await told(['status'])
  expect(failed.code).toBe(2)
  expect(failed.words).toContain(
    `${config} cannot be used. It is not JSON at line 3, column 3. (CONFIG_INVALID)`,
  )
  expect(failed.words).toContain('Correct the place that is named')
  writeFileSync(config, '{ "watch": "sometimes" }')
  expect((await told(['status'])).words).toContain('"watch" has to be "auto" or "off"')
  rmSync(config)
  mkdirSync(config)
  expect((await told(['status'])).words).toContain('It cannot be read (EISDIR)')
})

test('what an error is about is said in words too', async () => {
  await run(['init'])
  expect((await told(['show', 't_zzzz'])).words).toBe(
    'turnback: There is no such turn. (TURN_NOT_FOUND)\n  turn: t_zzzz\nRun `turnback log` to see the turns.\n',
  )
})

test.skipIf(!canMount())('on a full disk one can still look, and gc makes room', async () => {
  mkdirSync(home())
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', home()])
  try {
    await rig.init()
    const turn = async () => rig.turn(() => rig.write('big', randomBytes(9_000_000)))
    for (let i = 0; i < 3; i++) await turn()
    // What is younger than an hour is never removed.
    rig.aheadMs = 7_200_000
    const gc = (limits = {}) =>
      collectGarbage({
        ...gcParts(rig.deps, rig.env),
        limits: { retentionDays: 1000, retentionTurns: 1000, budgetBytes: 1e12, ...limits },
      })
    await gc()
    rig.reopen()
    fillDisk()
    const status = await run(['status', '--json'])
    expect(status).toMatchObject({ code: 0, words: '' })
    expect(JSON.parse(status.out)).toMatchObject({ unpushed: 3 })
    for (const args of [['log'], ['show', 'last'], ['cat', 'last', 'big'], ['verify'], ['usage']])
      expect(await run(args), args[0]).toMatchObject({ code: 0 })
    const failed = await told(['begin', '--session', 's'])
    expect(failed).toMatchObject({ code: 1, words: expect.stringContaining('(STORE_FULL)') })

    expect(await gc({ retentionTurns: 1 })).toMatchObject({ turns: 2, blobs: 1, trouble: null })
    rig.reopen()
    expect(await run(['begin', '--session', 's'])).toMatchObject({ code: 0 })
    expect(await run(['verify'])).toMatchObject({ code: 0 })
    await run(['end', '--session', 's'])

    // Without what was kept for it, it says why it can not.
    fillDisk()
    rmSync(join(home(), 'store/reserve'), { force: true })
    fillDisk()
    await expect(gc({ retentionTurns: 1 })).rejects.toMatchObject({
      code: 'STORE_FULL',
      message: expect.stringContaining('gc has to write a little before it can remove something'),
    })
  } finally {
    rig.reopen()
    execFileSync('umount', ['-l', home()])
  }
})

/** To the last byte. */
function fillDisk(): void {
  const fd = openSync(join(home(), 'somebody-else'), 'a')
  try {
    for (let size = 65_536; size >= 1; size = size >> 1) {
      try {
        while (writeSync(fd, Buffer.alloc(size)) === size);
      } catch {
        // No room for so much.
      }
    }
  } finally {
    closeSync(fd)
  }
}

test('when the pack for small files was removed, the next turn is recorded, and `verify` names what is lost', async () => {
  rig.write('a', 'one')
  await run(['init'])
  const packs = join(home(), 'store', 'packs')
  const lost = readdirSync(packs)
  expect(lost).toHaveLength(1)
  rmSync(join(packs, String(lost[0])))
  expect((await run(['begin', '--session', 's'])).code).toBe(0)
  rig.write('b', 'two')
  expect(JSON.parse((await run(['end', '--session', 's', '--json'])).out)).toMatchObject({
    entries: 1,
    created: 1,
  })
  expect((await run(['cat', 'last', 'b'])).out).toBe('two')
  expect(JSON.parse((await run(['verify', '--json'])).out)).toMatchObject({
    blobs: 2,
    missing: [expect.stringMatching(/^p/)],
    corrupt: [],
  })
})

test('help and version are one JSON object too, wherever `--json` stands', async () => {
  for (const args of [
    ['--json', 'help'],
    ['help', '--json'],
    ['--json', '--help'],
  ]) {
    const { code, out } = await run(args)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ help: expect.stringContaining('Usage: turnback') })
  }
  expect(JSON.parse((await run(['begin', '--help', '--json'])).out)).toEqual({
    help: expect.stringContaining('--session'),
  })
  for (const args of [
    ['--json', '--version'],
    ['--version', '--json'],
  ])
    expect(JSON.parse((await run(args)).out)).toEqual({ version: CLIENT_VERSION })
  expect((await run(['--version'])).out).toBe(`${CLIENT_VERSION}\n`)
})

test('a folder that is gone fails no agent’s hook, and others say that it is gone', async () => {
  const inGone = (...args: string[]) => {
    const line = `mkdir "$1/gone" && cd "$1/gone" && rmdir "$1/gone" && shift && exec "$@" </dev/null`
    const argv = ['-c', line, 'sh', rig.root, process.execPath, MAIN, ...args]
    const { status, stdout, stderr } = spawnSync('/bin/sh', argv, { env: rig.env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  await rig.init()
  expect(inGone('hook', 'claude-code')).toEqual({ status: 0, stdout: '', stderr: '' })
  const { status, stderr } = inGone('log')
  expect(status).toBe(1)
  expect(stderr).toContain('is gone')
  expect(stderr).toContain('NO_WORKSPACE')
  expect(inGone('-C', rig.root, 'log')).toMatchObject({ status: 0 })
})
