import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isAlive } from '#store/process.ts'
import { type Answer, ResidentRig, type RunOptions, until } from './support/resident-rig.ts'

let rig: ResidentRig

beforeAll(async () => {
  rig = new ResidentRig()
  await rig.connect()
})

afterAll(() => rig.dispose())

/** Every byte that an argument can hold. */
const HOSTILE = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1)).toString('latin1')
const AWKWARD = `a\n"b" 'c' \\n %s $(id) \`id\` ${'é😀'} *?[ ~ -`

/** Lines for one tree after the other, each in a fresh folder with a fresh home or the resident's. */
const LINES: readonly (readonly [words: readonly string[], options?: RunOptions])[] = [
  [['end', '--session', 's']],
  [['begin', '--session', 's', '--turn', 'k', '--agent', 'some-agent', '--json']],
  [['begin', '--session', 's', '--turn', 'k', '--json']],
  [['event', '--session', 's', '--type', 'no-such-type', '--json']],
  [['event', '--session', 's', '--type', 'no-such-type']],
  [['end', '--session', 's', '--turn', 'k']],
  [['end', '--session', 's', '--turn', 'k', '--json']],
  [['begin', '--session', AWKWARD, '--prompt', AWKWARD, '--json']],
  [['end', '--session', AWKWARD, '--json']],
  [['begin', '--session', 'p', '--prompt', '-'], { input: `piped\n\n${AWKWARD}` }],
  [['end', '--session', 'p', '--json']],
  [['begin']],
  [['begin', '--session', '', '--json']],
  [['begin', '--session', 's', '--no-such']],
  [['begin', '--help']],
  [['-C', '/no/such/folder', 'begin', '--session', 's']],
  [['-C', '/', 'begin', '--session', 's', '--json']],
  [['begin', '--session', 'edit', '--json']],
  [['!edit']],
  [['end', '--session', 'edit', '--json']],
  [['preview', 'last']],
  [['preview', 'last', '--json']],
  [['preview', 'last', '--diff']],
  [['preview', 'no-such-turn']],
  [['restore', 'last', '--dry-run', '--json']],
  [['restore', 'last', '--on-conflict', 'what', '--json']],
  [['undo', '--path', '../outside', '--json']],
  [['undo', '--json']],
  [['redo', '--json']],
  [['undo']],
  [['undo']],
  [['redo']],
  [['redo', '--close-open', '--json']],
  [['hook'], { input: 'x' }],
  [['hook', 'some-agent', '--no-such'], { input: 'x' }],
  [['hook', 'some-agent'], { input: JSON.stringify({ prompt: AWKWARD }) }],
  [['log', '--json']],
]

/** More than goes into one line of an answer. */
function edit(tree: string): void {
  for (let i = 0; i < 120; i++) writeFileSync(join(tree, `a file of some length, number ${i}`), `${i}\n`)
  writeFileSync(join(tree, 'é\n"quoted"'), Buffer.from([0xff, 0xfe, 0, 0x0a]))
  writeFileSync(join(tree, 'first'), 'changed\n')
  rmSync(join(tree, 'second'))
}

function makeTree(name: string): string {
  const tree = join(rig.top, name, 'project')
  mkdirSync(tree, { recursive: true })
  writeFileSync(join(tree, 'first'), 'one\n')
  writeFileSync(join(tree, 'second'), 'two\n')
  return tree
}

/** All lines in a tree of their own. @param home null for the resident's */
async function runAll(name: string, home: string | null): Promise<string[]> {
  const tree = makeTree(name)
  const env = home === null ? {} : { TURNBACK_HOME: home }
  const said: string[] = []
  for (const [words, options] of LINES) {
    if (words[0] === '!edit') edit(tree)
    else {
      const { code, stdout, stderr } = await rig.run(words, { cwd: tree, ...options, env })
      said.push(plain(`${words.join(' ')}\n→ ${code}\n${stdout.toString('latin1')}\n${stderr}`, name))
    }
  }
  return said
}

/** Without what is another each time. What was looked at is another too: the resident need not look. */
function plain(text: string, name: string): string {
  const seen = new Map<string, string>()
  return text
    .replaceAll(name, 'NAME')
    .replace(/\b[trwc]_[0-9a-z]{26}\b/g, (id) => seen.get(id) ?? seen.set(id, `ID${seen.size}`).get(id) ?? '')
    .replace(/\b[0-9a-f]{64}\b/g, 'HASH')
    .replace(/\d{4}-\d\d-\d\dT[0-9:.]+Z/g, 'TIME')
    .replace(/"(?:durationMs|statted|hashed)":\d+/g, 'N')
}

test('through the resident, everything is said and answered as without it, and no Node is started', async () => {
  const served = await runAll('by-resident', null)
  expect(rig.starts()).toEqual(['main.js log'])
  const alone = await runAll('by-itself', join(rig.top, 'other-home'))
  expect(rig.starts()).toHaveLength(LINES.length - 1)
  expect(served).toEqual(alone)
}, 240_000)

describe.each([
  ['dash'],
  ['bash'],
  ['bash', '--posix'],
  ['busybox', 'sh'],
  ['zsh', '--emulate', 'sh'],
  ['mksh'],
])('in %s %s', (...shell) => {
  test.skipIf(!isInstalled(shell[0]))(
    'arguments of any bytes, answers of any bytes, and no Node',
    async () => {
      const tree = makeTree(`in-${shell.join('-')}`)
      rig.starts()
      const options = { cwd: tree, shell }
      // As bytes: a string would be made UTF-8 on its way.
      const script = join(tree, 'begin')
      const quoted = Buffer.from(HOSTILE.replaceAll("'", `'\\''`), 'latin1')
      writeFileSync(
        script,
        Buffer.concat([
          Buffer.from(`exec ${[...shell, `'${rig.bin}'`].join(' ')} begin --json --session '`),
          quoted,
          Buffer.from("'\n"),
        ]),
      )
      const begun = await rig.run([], { cwd: tree, shell: ['sh', script] }).then(parsed)
      expect(begun).toMatchObject({ session: Buffer.from(HOSTILE, 'latin1').toString('utf8') })
      const ended = await rig.json(
        ['end', '--session', Buffer.from(HOSTILE, 'latin1').toString('utf8')],
        options,
      )
      expect(ended).toMatchObject({ turn: begun.turn })
      // By a file, as it is long; with a zero byte in it.
      await rig.json(['begin', '--session', 'b', '--prompt', '-'], { ...options, input: AWKWARD })
      writeFileSync(join(tree, 'binary'), Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256)))
      writeFileSync(join(tree, 'text'), 'a\u0001\u001f\u007f\n')
      await rig.json(['end', '--session', 'b'], options)
      const diff = await rig.run(['preview', 'last', '--diff'], options)
      expect(rig.starts()).toEqual([])
      expect(diff.stdout.toString()).toContain('-a\u0001\u001f\u007f\n')
      const failed = await rig.run(['end', '--session', 'b'], options)
      expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('NO_OPEN_TURN') })
    },
  )

  test.skipIf(!isInstalled(shell[0]))('what a hook is given arrives whole, however long', async () => {
    const tree = makeTree(`hooks-in-${shell.join('-')}`)
    rig.starts()
    const news = (name: string, bytes: number, end: string) => {
      const about = { session_id: `of ${tree}`, prompt_id: 'p', cwd: tree, hook_event_name: 'PreToolUse' }
      // The path is what is lost first.
      const text = JSON.stringify({
        ...about,
        tool_name: 'Write',
        é: '',
        tool_input: { file_path: join(tree, name) },
      })
      const rest = Math.max(0, bytes - Buffer.byteLength(text + end))
      return `${text.replace('"é":""', () => `"é":${JSON.stringify('\\'.repeat(rest / 2))}`)}${end}`
    }
    // Around what is read in one go, beyond what a pipe holds, and with a line's end.
    const sizes = [0, 1022, 1023, 1024, 1025, 1026, 200_000]
    for (const bytes of sizes) {
      for (const end of ['', '\n']) {
        const name = `${bytes}${end === '' ? '' : ' and a line’s end'}`
        const input = news(name, bytes, end)
        expect(await rig.run(['hook', 'claude-code'], { cwd: tree, shell, input })).toMatchObject({ code: 0 })
        writeFileSync(join(tree, name), name)
      }
    }
    await rig.json(['end', '--session', `of ${tree}`], { cwd: tree })
    expect(rig.starts()).toEqual([])
    const { entries } = await rig.json(['show', 'last'], { cwd: tree })
    if (!Array.isArray(entries)) throw new Error('no entries')
    expect(entries.map(({ source }) => source)).toEqual(
      Array.from({ length: 2 * sizes.length }, () => 'tool'),
    )
  })
})

function isInstalled(shell = ''): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${shell}`])
    return true
  } catch {
    return false
  }
}

function parsed({ stdout }: Answer): Record<string, unknown> {
  return JSON.parse(stdout.toString())
}

test('200 at once, from several workspaces, are all answered, each with its own', async () => {
  const trees = ['w1', 'w2', 'w3', 'w4'].map(makeTree)
  rig.starts()
  const asked = Array.from({ length: 200 }, (_, i) => ({ cwd: trees[i % 4] ?? '', session: `s${i}` }))
  const begun = await Promise.all(
    asked.map(({ cwd, session }) => rig.run(['begin', '--session', session, '--json'], { cwd }).then(parsed)),
  )
  expect(begun.map(({ session }) => session)).toEqual(asked.map(({ session }) => session))
  expect(new Set(begun.map(({ turn }) => turn)).size).toBe(200)
  const open = await Promise.all(trees.map((cwd) => rig.json(['status'], { cwd })))
  for (const { openTurns } of open) expect(openTurns).toHaveLength(50)
  // A machine that is slow may have let some of them wait too long; those did it themselves.
  expect(rig.starts().filter((line) => line.includes('quick.js')).length).toBeLessThan(150)
  // Nothing is left but what callers left that had waited in vain.
  await until(
    () => rig.listPlace().every((name) => !/\.(?:request|taken|out)$/.test(name)),
    'all is put away',
  )
}, 120_000)

test('what agents wait for is started without what only other commands need', () => {
  const [build = ''] = readdirSync(rig.dist).filter((name) => name.startsWith('b-'))
  const read = (name: string) => readFileSync(join(rig.dist, build, name), 'utf8')
  const all = readdirSync(join(rig.dist, build)).filter((name) => name.endsWith('.js'))
  const loaded = new Set(all.filter((name) => /^quick-(?:all|begin-|event-|end-|hook-)/.test(name)))
  for (const file of loaded)
    for (const [, name = ''] of read(file).matchAll(/^const \w+ = require\("\.\/([^"]+)"\);$/gm))
      loaded.add(name)
  expect(loaded.size).toBeGreaterThan(4)
  const others = all.filter((name) => !loaded.has(name))
  for (const part of ['ZodObject', 'age-encryption.org', 'CommanderError', 'WebSocket', '"node:https"']) {
    expect([part, [...loaded].filter((name) => read(name).includes(part))]).toEqual([part, []])
    // That it would be seen: others have it.
    expect([part, others.some((name) => read(name).includes(part))]).toEqual([part, true])
  }
})

test('what lies in the folder is for its owner alone', () => {
  for (const folder of [rig.socket, rig.place]) expect(lstatSync(folder).mode & 0o777).toBe(0o700)
  // A claim is empty, and made before the shell knows what umask it is to give back.
  const names = rig.listPlace().filter((name) => !name.endsWith('.claim'))
  const files = [join(rig.socket, 'resident'), ...names.map((name) => join(rig.place, name))]
  expect(files.length).toBeGreaterThan(20)
  for (const file of files) expect([file, lstatSync(file).mode & 0o077]).toEqual([file, 0])
})

test('a folder that others can write is refused at the start, and not served from later', async () => {
  rig.starts()
  chmodSync(rig.socket, 0o777)
  try {
    expect(await rig.json(['begin', '--session', 'open'])).toMatchObject({ session: 'open' })
    expect(rig.starts()).toHaveLength(1)
  } finally {
    chmodSync(rig.socket, 0o700)
  }
  const home = join(rig.top, 'open-home')
  mkdirSync(join(home, 'socket'), { recursive: true })
  chmodSync(join(home, 'socket'), 0o770)
  const refused = await rig.run(['connect', '--foreground', '--json'], { env: { TURNBACK_HOME: home } })
  expect(refused.code).toBe(1)
  expect(parsed(refused)).toMatchObject({ error: { code: 'SOCKET_UNSAFE' } })
})

test('settings are those of the moment, and settings that cannot be read are told as without it', async () => {
  const tree = makeTree('settings')
  const config = join(rig.home, 'config.json')
  writeFileSync(join(tree, 'big'), 'x'.repeat(2000))
  rig.starts()
  await rig.json(['begin', '--session', 'c'], { cwd: tree })
  writeFileSync(config, JSON.stringify({ maxFileBytes: 1000 }))
  writeFileSync(join(tree, 'big'), 'y'.repeat(2000))
  expect(await rig.json(['end', '--session', 'c'], { cwd: tree })).toMatchObject({ skipped: 1 })
  expect(rig.starts()).toEqual([])
  writeFileSync(config, '{')
  expect(await rig.json(['begin', '--session', 'c'], { cwd: tree })).toMatchObject({
    error: { code: 'CONFIG_INVALID', details: { file: config, line: 1, column: 2 } },
  })
  expect(rig.starts()).toHaveLength(1)
  rmSync(config)
  expect(await rig.json(['begin', '--session', 'c'], { cwd: tree })).toMatchObject({ session: 'c' })
})

test('a caller with another home, or another version, is none of its business', async () => {
  rig.starts()
  const user = join(rig.top, 'somebody')
  mkdirSync(user)
  await rig.json(['begin', '--session', 'h'], { env: { HOME: user } })
  await rig.json(['begin', '--session', 'h'], { env: { TURNBACK_HOME: join(rig.top, 'x/../home') } })
  expect(rig.starts()).toHaveLength(1)
  const other = join(rig.top, 'checkout/bin/other')
  execFileSync('sh', [
    '-c',
    `sed 's/^tb_version=.*/tb_version=9.9.9/' '${rig.bin}' >'${other}' && chmod +x '${other}'`,
  ])
  await rig.json(['begin', '--session', 'h'], { shell: ['sh', '-c', `exec '${other}' "$@"`] })
  expect(rig.starts()).toHaveLength(1)
})

test('status says what it does; once its code is another, it serves no more until it is renewed', async () => {
  expect(await rig.json(['status'])).toMatchObject({
    resident: { serves: true, watches: true, isOutdated: false },
  })
  const before = rig.pid
  const [build = ''] = readdirSync(rig.dist).filter((name) => name.startsWith('b-'))
  writeFileSync(join(rig.dist, build, 'package.json'), '{ "type": "commonjs" }')
  await until(() => !readdirSync(rig.socket).includes('resident'), 'it notices')
  rig.starts()
  await rig.json(['begin', '--session', 'o'])
  expect(rig.starts()).toHaveLength(1)
  expect(await rig.json(['status'])).toMatchObject({ resident: { serves: false, isOutdated: true } })
  expect(await rig.json(['connect'])).toMatchObject({ alreadyRunning: false })
  expect(rig.pid).not.toBe(before)
  expect(await rig.json(['connect'])).toMatchObject({ alreadyRunning: true })
  rig.starts()
  await rig.json(['begin', '--session', 'o'])
  expect(rig.starts()).toEqual([])
})

test('disconnect ends it after what runs', async () => {
  const tree = makeTree('last')
  for (let i = 0; i < 300; i++) writeFileSync(join(tree, `f${i}`), `${i}`)
  const pid = rig.pid
  const begun = rig.json(['begin', '--session', 'last'], { cwd: tree })
  const { stopped } = await rig.json(['disconnect'])
  expect(stopped).toBe(pid)
  expect(await begun).toMatchObject({ session: 'last' })
  expect(isAlive({ pid, started: '', boot: '' })).toBe(false)
  expect(await rig.json(['status'])).toMatchObject({ resident: null })
  expect(await rig.json(['end', '--session', 'last'], { cwd: tree })).toMatchObject({ created: 0 })
})
