import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AGENTS } from '#adapters/adapter.ts'
import { hookLine } from '#setup/hook-line.ts'
import { runHere } from './support/command-here.ts'
import { TURNBACK, turnback } from './support/command-line.ts'
import { makeInstallScene, putFile } from './support/install-scene.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let top: string
let env: Record<string, string>
let user: string
let project: string
beforeEach(() => {
  ;({ top, env, user, project } = makeInstallScene())
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const run = (...args: string[]) => runHere(env, project, args)
const read = (file: string) => readFileSync(file, 'utf8')

const PLACES = {
  'claude-code': ['.claude/settings.json', '.claude/settings.json'],
  codex: ['.codex/hooks.json', '.codex/hooks.json'],
  opencode: ['.config/opencode/plugin/turnback.js', '.opencode/plugin/turnback.js'],
  'gemini-cli': ['.gemini/settings.json', '.gemini/settings.json'],
  'copilot-cli': ['.copilot/hooks/turnback.json', '.github/hooks/turnback.json'],
  cursor: ['.cursor/hooks.json', '.cursor/hooks.json'],
} as const

test.each(AGENTS)(
  '%s: put in at both levels, the same the second time, gone without a trace',
  async (agent) => {
    const before = snapshotTree(user)
    const [mine, its] = PLACES[agent]
    for (const [folder, place, options] of [
      [user, mine, []],
      [project, its, ['--project']],
    ] as const) {
      const { code, json } = await run('install', agent, '--mcp', ...options)
      expect(code).toBe(0)
      expect(json).toMatchObject({ agent, installed: true, lastFired: null })
      expect(json.files).toContain(join(folder, place))
      expect(read(join(folder, place))).toContain(TURNBACK)
      const once = snapshotTree(folder)
      expect((await run('install', agent, ...options)).json).toMatchObject({ changed: [] })
      expect(snapshotTree(folder)).toEqual(once)
    }
    await run('uninstall', agent)
    expect(snapshotTree(user)).toEqual(before)
    expect([...snapshotTree(project).keys()]).toEqual([])
  },
)

test('each agent hears its own words for the same events', async () => {
  for (const agent of AGENTS) await run('install', agent)
  const hooksOf = (file: string) => JSON.parse(read(join(user, file))).hooks
  expect(hooksOf('.codex/hooks.json').Interrupt).toEqual([
    { hooks: [{ type: 'command', command: `'${TURNBACK}' hook codex`, timeout: 3 }] },
  ])
  expect(hooksOf('.gemini/settings.json').BeforeAgent).toEqual([
    {
      hooks: [
        {
          type: 'command',
          name: 'turnback',
          command: `'${TURNBACK}' hook gemini-cli || true`,
          timeout: 15_000,
        },
      ],
    },
  ])
  expect(hooksOf('.copilot/hooks/turnback.json').preToolUse).toEqual([
    { type: 'command', bash: `'${TURNBACK}' hook copilot-cli preToolUse || true`, timeoutSec: 15 },
  ])
  expect(hooksOf('.cursor/hooks.json').stop).toEqual([{ command: `'${TURNBACK}' hook cursor stop` }])
  expect(JSON.parse(read(join(user, '.cursor/hooks.json'))).version).toBe(1)
})

test('variables lead to other folders', async () => {
  const at = (name: string) => join(top, 'elsewhere', name)
  env = {
    ...{ ...env, CLAUDE_CONFIG_DIR: at('claude'), CODEX_HOME: at('codex'), XDG_CONFIG_HOME: at('xdg') },
    ...{ GEMINI_CLI_HOME: at('gemini'), COPILOT_HOME: at('copilot') },
  }
  for (const agent of AGENTS) await run('install', agent)
  for (const file of [
    ...['claude/settings.json', 'codex/hooks.json', 'xdg/opencode/plugin/turnback.js'],
    ...['gemini/.gemini/settings.json', 'copilot/hooks/turnback.json'],
  ])
    expect(existsSync(at(file)), file).toBe(true)
  // Cursor has no such variable.
  expect([...snapshotTree(user).keys()]).toEqual(['.cursor', '.cursor/hooks.json'])
})

const CONFIG = `# mine
model = "gpt-5" # this one

[mcp_servers.other]
command = "x"
`

test('Codex: our lines in its TOML stand between marks, and only when nobody else has said the same', async () => {
  const file = join(user, '.codex/config.toml')
  putFile(file, CONFIG)
  await run('install', 'codex', '--mcp')
  expect(parseToml(read(file))).toEqual({
    ...{ notify: [TURNBACK, 'hook', 'codex'], model: 'gpt-5' },
    mcp_servers: { other: { command: 'x' }, turnback: { command: TURNBACK, args: ['mcp'] } },
  })
  expect(read(file)).toContain(CONFIG)
  await run('uninstall', 'codex')
  expect(read(file)).toBe(CONFIG)

  putFile(file, `notify = ["mine"]\n${CONFIG}`)
  await run('install', 'codex')
  expect(read(file)).toBe(`notify = ["mine"]\n${CONFIG}`)

  putFile(file, 'model = \n')
  const { code, json } = await run('install', 'codex')
  expect(code).toBe(3)
  expect(json).toMatchObject({ error: { code: 'SETTINGS_REFUSED', details: { file, line: 1 } } })
  expect(read(file)).toBe('model = \n')
})

test('what the person changed in TOML after us stays', async () => {
  const file = join(user, '.codex/config.toml')
  putFile(file, CONFIG)
  await run('install', 'codex', '--mcp')
  putFile(file, `${read(file)}\n[profiles.x]\nmodel = "y"\n`)
  await run('uninstall', 'codex')
  expect(read(file)).toBe(`${CONFIG}\n[profiles.x]\nmodel = "y"\n`)
})

test('an MCP server of that name that is not ours is left, and said', async () => {
  const file = join(user, '.claude.json')
  putFile(file, '{"mcpServers":{"turnback":{"command":"other"}},"numStartups":3}')
  const { code, json } = await run('install', 'claude-code', '--mcp')
  expect(code).toBe(3)
  expect(json).toMatchObject({ error: { details: { file, line: 1, column: 27 } } })
  // Nor was anything else of the agent written.
  expect(existsSync(join(user, '.claude'))).toBe(false)
})

test('a plugin of that name that is not ours is left', async () => {
  const file = join(user, '.config/opencode/plugin/turnback.js')
  putFile(file, 'export default {}\n')
  expect((await run('install', 'opencode')).code).toBe(3)
  await run('uninstall', 'opencode')
  expect(read(file)).toBe('export default {}\n')
})

test('without a name: which agents are here, and --all puts it into them', async () => {
  mkdirSync(join(user, '.gemini'))
  putFile(join(top, 'bin/codex'), '#!/bin/sh\nexit 1\n', 0o755)
  env = { ...env, PATH: `${join(top, 'bin')}:/usr/bin:/bin` }
  expect((await run('install')).json).toMatchObject({
    agents: [
      { agent: 'codex', program: join(top, 'bin/codex'), installed: false },
      { agent: 'gemini-cli', program: null, installed: false },
    ],
  })
  expect(existsSync(join(user, '.codex'))).toBe(false)
  expect((await run('install', '--all')).json).toMatchObject({
    agents: [
      { agent: 'codex', installed: true },
      { agent: 'gemini-cli', installed: true },
    ],
  })
  expect((await run('install')).json).toMatchObject({ agents: [{ installed: true }, { installed: true }] })
})

test('doctor starts nothing that came with a project', async () => {
  const mark = join(top, 'mark')
  const evil = join(project, 'bin/turnback')
  putFile(evil, `#!/bin/sh\ntouch '${mark}'\n`, 0o755)
  await run('install', 'claude-code', '--project')
  const settings = join(project, '.claude/settings.json')
  putFile(settings, read(settings).replaceAll(TURNBACK, evil))
  const { json } = await run('doctor')
  expect(existsSync(mark)).toBe(false)
  expect(json).toMatchObject({ agents: [{ agent: 'claude-code', fires: null }] })
  // The control: in the person's own settings it is theirs, and is tried.
  putFile(join(user, '.claude/settings.json'), read(settings))
  rmSync(settings)
  await run('doctor')
  expect(existsSync(mark)).toBe(true)
})

test('doctor starts each line as the agent would, and says what does not work', async () => {
  for (const agent of AGENTS) await run('install', agent)
  putFile(join(user, '.gemini/trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' }))
  const doctor = async () => (await turnback(env, project, 'doctor', '--json')).json
  const well = await doctor()
  expect(well.problems).toEqual([])
  expect(well.agents).toEqual(
    AGENTS.map((agent) =>
      expect.objectContaining({
        ...{ agent, installed: true, fires: true, lastFired: null, version: null },
        trusted: agent === 'codex' ? null : true,
      }),
    ),
  )

  // A checkout that was moved, one that is broken, an event that somebody took out.
  const settings = join(user, '.claude/settings.json')
  putFile(settings, read(settings).replaceAll(TURNBACK, join(top, 'gone/bin/turnback')))
  const broken = join(top, 'broken/bin/turnback')
  putFile(broken, '#!/bin/sh\nexit 0\n', 0o755)
  putFile(
    join(user, '.gemini/settings.json'),
    read(join(user, '.gemini/settings.json')).replaceAll(TURNBACK, broken),
  )
  const hooks = JSON.parse(read(join(user, '.codex/hooks.json')))
  delete hooks.hooks.Stop
  putFile(join(user, '.codex/hooks.json'), JSON.stringify(hooks))
  putFile(join(user, '.cursor/hooks.json'), '{')
  const ill = await doctor()
  const words = JSON.stringify(ill.problems)
  expect(words).toContain(`${join(top, 'gone/bin/turnback')}, which is not there any more`)
  expect(words).toContain('nothing came to the store')
  expect(words).toContain('Codex: does not tell of Stop')
  expect(words).toContain('Line 1, column 2')
  expect(ill).toMatchObject({ ok: false })
  expect(ill.problems).toHaveLength(4)
})

test('the command in the chat comes and goes with the hooks; one of that name that is not ours stays', async () => {
  const rewind = join(user, '.config/opencode/command/rewind.md')
  putFile(rewind, 'mine\n')
  const { code, json } = await run('install', 'opencode')
  expect(code).toBe(0)
  expect(JSON.stringify(json.notes)).toContain(`${rewind} is somebody else’s`)
  expect(existsSync(join(user, '.config/opencode/command/turnback.md'))).toBe(true)
  await run('install', 'claude-code')
  expect(read(join(user, '.claude/commands/turnback.md'))).toContain('disable-model-invocation: true')
  await run('uninstall', 'opencode')
  await run('uninstall', 'claude-code')
  expect([...snapshotTree(user).keys()].filter((path) => /\.md|\.js/.test(path))).toEqual([
    '.config/opencode/command/rewind.md',
  ])
  expect(read(rewind)).toBe('mine\n')
})

test('all files of an agent or none: what cannot be written last takes back what was written first', async () => {
  putFile(join(user, '.codex/config.toml'), CONFIG, 0o444)
  const before = snapshotTree(user)
  expect((await run('install', 'codex')).code).toBe(3)
  expect(snapshotTree(user)).toEqual(before)

  // Found out only on the way: the command's folder is a file.
  putFile(join(user, '.claude/settings.json'), '{"model":"x"}')
  putFile(join(user, '.claude/commands'), 'in the way\n')
  const then = snapshotTree(user)
  expect((await run('install', 'claude-code')).code).not.toBe(0)
  expect(snapshotTree(user)).toEqual(then)
  rmSync(join(user, '.claude/commands'))
  await run('install', 'claude-code')
  await run('uninstall', 'claude-code')
  expect(read(join(user, '.claude/settings.json'))).toBe('{"model":"x"}')
})

test('a store that cannot be opened is no reason to keep the hooks', async () => {
  await run('install', 'claude-code')
  putFile(join(top, 'home/config.json'), '{ no json')
  expect(await run('uninstall', 'claude-code')).toMatchObject({
    code: 0,
    json: { installed: false, lastFired: null },
  })
  expect([...snapshotTree(user).keys()]).toEqual([])
})

test('a line starts the program whatever its path holds', () => {
  const program = join(top, 'it\'s $(touch no) "here"; `x`/turnback')
  putFile(program, '#!/bin/sh\necho "$@"\n', 0o755)
  const line = hookLine(program, 'copilot-cli', 'preToolUse')
  expect(execFileSync('/bin/sh', ['-c', line], { cwd: top, encoding: 'utf8' })).toBe(
    'hook copilot-cli preToolUse\n',
  )
})
