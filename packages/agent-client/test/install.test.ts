import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'jsonc-parser'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHere } from './support/command-here.ts'
import { TURNBACK } from './support/command-line.ts'
import { makeInstallScene, putFile } from './support/install-scene.ts'

let top: string
let env: Record<string, string>
let project: string
let settings: string
beforeEach(() => {
  ;({ top, env, project } = makeInstallScene())
  settings = join(top, 'user/.claude/settings.json')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const run = (...args: string[]) => runHere(env, project, args)
const LINE = `'${TURNBACK}' hook claude-code`

const put = (text: string | Uint8Array, file = settings) => putFile(file, text)
const read = (file = settings) => readFileSync(file, 'utf8')
const linesOf = (text: string) =>
  [...text.matchAll(/"command": ?"((?:[^"\\]|\\.)*)"/g)].map(([, line]) => line)

test('no settings yet: they are made, hooks on each event; gone again without a trace', async () => {
  const { code, json } = await run('install', 'claude-code')
  expect(code).toBe(0)
  expect(json).toMatchObject({
    ...{
      agent: 'claude-code',
      files: expect.arrayContaining([settings]),
      installed: true,
      trusted: true,
      lastFired: null,
    },
  })
  const { hooks } = JSON.parse(read())
  expect(hooks.UserPromptSubmit).toEqual([{ hooks: [{ type: 'command', command: LINE, timeout: 15 }] }])
  expect(hooks.PreToolUse).toEqual([
    { matcher: '*', hooks: [{ type: 'command', command: LINE, timeout: 15 }] },
  ])
  expect(Object.keys(hooks)).toEqual(
    expect.arrayContaining(['PostToolUse', 'PostToolUseFailure', 'Stop', 'StopFailure', 'SessionEnd']),
  )
  expect((await run('uninstall', 'claude-code')).json).toMatchObject({
    installed: false,
    files: expect.arrayContaining([settings]),
  })
  expect(existsSync(join(top, 'user/.claude'))).toBe(false)
})

const OTHERS = `{
  // mine
  "model": "x", /* and this */
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "check" }] }, // others'
    ],
    "Stop": [],
  },
}
`

test.each([
  ['with comments, trailing commas and others’ hooks', OTHERS],
  ['with CRLF', OTHERS.replaceAll('\n', '\r\n')],
  ['with a byte order mark', `\ufeff${OTHERS}`],
  ['with tabs', OTHERS.replaceAll('  ', '\t')],
  ['on one line', '{"model":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"check"}]}]}}'],
  ['empty', ''],
  ['of an empty object', '{ }'],
])(
  'settings %s: kept, nothing changes the second time, and exactly as before in the end',
  async (_, text) => {
    put(text)
    await run('install', 'claude-code')
    const once = read()
    const options = { allowTrailingComma: true, allowEmptyContent: true }
    const was = parse(text.replace('\ufeff', ''), [], options) ?? {}
    const is = parse(once.replace('\ufeff', ''), [], options)
    expect(is.model).toEqual(was.model)
    for (const [event, groups] of Object.entries(was.hooks ?? {})) {
      if (Array.isArray(groups)) expect(is.hooks[event].slice(0, groups.length)).toEqual(groups)
    }
    for (const note of text.match(/\/\/.*|\/\*.*?\*\//g) ?? []) expect(once).toContain(note.trimEnd())
    expect(once.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'))
    expect(/(?<!\r)\n/.test(once) && once.includes('\r\n')).toBe(false)

    const { ino } = statSync(settings)
    expect((await run('install', 'claude-code')).json).toMatchObject({ changed: [] })
    expect(read()).toBe(once)
    expect(statSync(settings).ino).toBe(ino)

    await run('uninstall', 'claude-code')
    expect(read()).toBe(text)
  },
)

test('what others changed after us stays: only ours is taken out', async () => {
  put(OTHERS)
  await run('install', 'claude-code')
  put(read().replace('"model": "x"', '"model": "y"'))
  await run('uninstall', 'claude-code')
  expect(read()).toBe(OTHERS.replace('"model": "x"', '"model": "y"'))
})

test('an older installation is renewed: another checkout, fewer events, another time limit', async () => {
  const old = { type: 'command', command: "'/opt/it'\\''s here/bin/turnback' hook claude-code" }
  const other = { type: 'command', command: 'check' }
  put(
    JSON.stringify({
      hooks: {
        Stop: [{ hooks: [old, other] }],
        Notification: [{ hooks: [old] }],
        PreToolUse: [{ hooks: [old] }],
      },
    }),
  )
  await run('install', 'claude-code')
  const lines = linesOf(read())
  expect(lines.filter((line) => line === 'check')).toHaveLength(1)
  expect(new Set(lines)).toEqual(new Set(['check', LINE]))
  expect(JSON.parse(read()).hooks.Notification).toBeUndefined()
  await run('uninstall', 'claude-code')
  expect(JSON.parse(read())).toEqual({ hooks: { Stop: [{ hooks: [other] }] } })
})

test('what only looks like ours is not touched', async () => {
  const text = JSON.stringify({
    hooks: {
      Stop: [
        { hooks: [{ type: 'command', command: `${LINE}; rm x` }] },
        { hooks: [{ type: 'command', command: "'/bin/turnback' hook codex" }] },
        { hooks: [{ type: 'command', command: 'turnback-like hook claude-code' }] },
      ],
    },
  })
  put(text)
  await run('uninstall', 'claude-code')
  expect(read()).toBe(text)
})

test.each([
  ['no JSON', '{\n  "a": 1,\n  "b" 2\n}', { line: 3, column: 7 }],
  ['hooks that are no object', '{ "hooks": [] }', { line: 1, column: 12 }],
  ['an event that is no list', '{ "hooks": { "Stop": {} } }', { line: 1, column: 22 }],
  ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), {}],
])('%s: refused with its place, nothing written', async (_, bytes, place) => {
  put(bytes)
  const { code, json } = await run('install', 'claude-code')
  expect(code).toBe(3)
  expect(json).toMatchObject({ error: { code: 'SETTINGS_REFUSED', details: { file: settings, ...place } } })
  expect(readFileSync(settings)).toEqual(Buffer.from(bytes))
  expect(readdirSync(dirname(settings))).toEqual(['settings.json'])
})

test('read-only: refused. A mode of its own: kept. No half file and no temporary one is left', async () => {
  put('{}')
  chmodSync(settings, 0o400)
  expect((await run('install', 'claude-code')).code).toBe(3)
  expect(read()).toBe('{}')
  chmodSync(settings, 0o600)
  await run('install', 'claude-code')
  expect(statSync(settings).mode & 0o7777).toBe(0o600)
  expect(readdirSync(dirname(settings))).toEqual(['commands', 'settings.json'])
})

test.each([
  ['a file', true],
  ['nothing yet', false],
])('settings that are a link to %s: the link stays, its target is written', async (_, isThere) => {
  const real = join(top, 'dotfiles/claude.json')
  mkdirSync(dirname(real))
  mkdirSync(dirname(settings), { recursive: true })
  if (isThere) writeFileSync(real, '{"model":"x"}')
  symlinkSync('../../dotfiles/claude.json', settings)
  await run('install', 'claude-code')
  expect(lstatSync(settings).isSymbolicLink()).toBe(true)
  expect(linesOf(read(real))).toContain(LINE)
  await run('uninstall', 'claude-code')
  expect(lstatSync(settings).isSymbolicLink()).toBe(true)
  expect(existsSync(real)).toBe(isThere)
})

test('--dry-run shows a diff that patch takes, and writes nothing', async () => {
  put(OTHERS)
  const { json } = await run('install', 'claude-code', '--dry-run')
  expect(read()).toBe(OTHERS)
  const copy = join(top, 'copy.json')
  writeFileSync(copy, OTHERS)
  execFileSync('git', ['apply', '-p0', '--unsafe-paths', '-'], {
    cwd: top,
    input: String(json.diff).replaceAll(settings, 'copy.json'),
  })
  await run('install', 'claude-code')
  expect(read(copy)).toBe(read())
})

test('--project writes into the project, where CLAUDE_CONFIG_DIR does not lead; without it, there', async () => {
  env = { ...env, CLAUDE_CONFIG_DIR: join(top, 'elsewhere') }
  await run('install', 'claude-code', '--project')
  const own = join(project, '.claude/settings.json')
  expect(linesOf(read(own))).toContain(LINE)
  expect(existsSync(join(top, 'elsewhere'))).toBe(false)
  await run('install', 'claude-code')
  expect(linesOf(read(join(top, 'elsewhere/settings.json')))).toContain(LINE)
  await run('uninstall', 'claude-code')
  expect([existsSync(own), existsSync(join(top, 'elsewhere')), existsSync(settings)]).toEqual([
    false,
    false,
    false,
  ])
})

test('an agent that is not known: wrong usage, with those that are', async () => {
  const { code, json } = await run('install', 'hal')
  expect(code).toBe(2)
  expect(json).toMatchObject({
    error: { code: 'USAGE', details: { known: expect.arrayContaining(['claude-code']) } },
  })
})
