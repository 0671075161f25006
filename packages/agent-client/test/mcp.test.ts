import { mkdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { TURNBACK } from './support/command-line.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let rig: CaptureRig
const clients: Client[] = []
beforeEach(async () => {
  rig = new CaptureRig('mcp')
  rig.write('src/a.txt', 'one\n')
  await rig.init()
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  rig.dispose()
})

interface Connected {
  call(name: string, args?: Record<string, unknown>): Promise<Called>
  readonly client: Client
  talk(): string
}
interface Called {
  readonly isError: boolean
  readonly text: string
  readonly facts: Record<string, unknown>
}

type Mode = 'legacy' | 'auto'

async function connect(
  folder = rig.root,
  roots: string[] | null = null,
  mode: Mode = 'legacy',
): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: TURNBACK,
    args: ['mcp'],
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...rig.env },
    stderr: 'pipe',
  })
  let talk = ''
  transport.stderr?.on('data', (piece) => {
    talk += String(piece)
  })
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: roots === null ? {} : { roots: {} }, versionNegotiation: { mode } },
  )
  if (roots !== null)
    client.setRequestHandler('roots/list', () => ({
      roots: roots.map((root) => ({ uri: pathToFileURL(root).href })),
    }))
  clients.push(client)
  await client.connect(transport)
  return {
    client,
    talk: () => talk,
    async call(name, args = {}) {
      const result = await client.callTool({ name, arguments: args })
      const [first] = result.content
      return {
        isError: result.isError === true,
        text: first?.type === 'text' ? first.text : '',
        facts: Object.fromEntries(Object.entries(result.structuredContent ?? {})),
      }
    },
  }
}

test('a model can look and make checkpoints, and nothing that it is given changes a file', async () => {
  await rig.begin({ agent: { name: 'codex', version: null } })
  rig.write('src/a.txt', 'two\n')
  await rig.end()
  const { client, call, talk } = await connect()
  const { tools } = await client.listTools()
  expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
    ['list_turns', true],
    ['show_turn', true],
    ['diff_turn', true],
    ['preview_rewind', true],
    ['checkpoint', false],
  ])
  for (const { inputSchema } of tools) expect(inputSchema.additionalProperties).toBe(false)

  const before = snapshotTree(rig.root)
  const list = await call('list_turns')
  expect(list.facts).toMatchObject({
    turns: [{ number: 1, kind: 'agent', agent: 'codex', changed: 1, undone: 'no' }],
  })
  expect(JSON.parse(list.text)).toEqual(list.facts)
  expect((await call('show_turn', { turn: 'last' })).facts).toMatchObject({
    number: 1,
    agent: 'codex',
    changes: [{ path: 'src/a.txt', what: 'changed' }],
  })
  const diff = await call('diff_turn', { turn: '1', paths: ['src'] })
  expect(diff.text).toContain('-one\n+two')
  expect(diff.facts).toMatchObject({ files: [{ path: 'src/a.txt', additions: 1 }] })
  const preview = await call('preview_rewind', { turn: '1', paths: ['src/a.txt'] })
  expect(preview.facts).toMatchObject({
    restore: ['src/a.txt'],
    command: 'turnback restore --path=src/a.txt 1',
  })
  expect(preview.facts).not.toHaveProperty('token')
  const made = await call('checkpoint', { label: 'it works' })
  expect(made.facts).toMatchObject({ label: 'it works', paths: null })
  expect((await call('list_turns', { kind: 'checkpoint' })).facts).toMatchObject({
    turns: [{ label: 'it works' }],
  })
  expect(snapshotTree(rig.root)).toEqual(before)
  expect(talk()).toBe('')
}, 60_000)

test('a turn that is open is told of, and goes on', async () => {
  const turn = await rig.begin({ key: 'k', agentPid: process.pid })
  await rig.event({ key: 'k', type: 'tool.before', tool: 'Edit' })
  rig.write('b.txt', 'new\n')
  const { call } = await connect()
  expect((await call('show_turn', { turn: 'last' })).facts).toMatchObject({
    turn,
    open: true,
    changes: [{ path: 'b.txt', what: 'created' }],
  })
  expect((await call('checkpoint')).isError).toBe(false)
  expect(rig.deps.log.findTurn(turn)).toMatchObject({ isOpen: true })
}, 60_000)

test('what goes wrong is the tool’s own failure, with its code and what to do; what is asked wrongly is refused', async () => {
  const { call } = await connect()
  const unknown = await call('show_turn', { turn: '99' })
  expect(unknown).toMatchObject({ isError: true, facts: { error: { code: 'TURN_NOT_FOUND' } } })
  expect(unknown.text).toMatch(/\(TURN_NOT_FOUND\)\n\S/)
  expect(await call('checkpoint', { paths: ['../elsewhere'] })).toMatchObject({
    isError: true,
    facts: { error: { code: 'OUTSIDE_ROOT' } },
  })
  expect(await call('show_turn', { turn: '1', force: true })).toMatchObject({ isError: true })
  expect(await call('preview_rewind', { turn: '--all-sessions' })).toMatchObject({
    isError: true,
    facts: { error: { code: 'TURN_NOT_FOUND' } },
  })
}, 60_000)

test('long answers are cut, and say so; what is secret is named and not shown', async () => {
  await rig.turn(() => {
    for (let i = 0; i < 250; i++) rig.write(`many/${String(i).padStart(3, '0')}.txt`, `${'x'.repeat(400)}\n`)
    rig.write('.env', 'TOKEN=hunter2\n')
  })
  const { call } = await connect()
  const show = await call('show_turn', { turn: '1' })
  expect(show.facts.note).toMatch(/\d+ more of changes/)
  const diff = await call('diff_turn', { turn: '1' })
  expect(diff.text.length).toBeLessThan(60_000)
  expect(diff.text).toContain('Not shown to keep this short: many/')
  expect(diff.text).toContain('Left out because they hold secrets: .env')
  expect(diff.text).not.toContain('hunter2')
}, 60_000)

test.each<Mode>(['legacy', 'auto'])(
  'the workspace is the folder it was started in, or the client’s (%s)',
  async (mode) => {
    await rig.turn(() => rig.write('src/a.txt', 'two\n'))
    const elsewhere = `${rig.top}/elsewhere`
    mkdirSync(elsewhere)
    const without = await connect(elsewhere, null, mode)
    expect(await without.call('list_turns')).toMatchObject({ facts: { error: { code: 'NO_WORKSPACE' } } })
    const withRoots = await connect(elsewhere, [rig.root], mode)
    expect((await withRoots.call('list_turns')).facts).toMatchObject({ turns: [{ number: 1 }] })
    const below = await connect(`${rig.root}/src`, [rig.root], mode)
    expect((await below.call('diff_turn', { turn: '1', paths: ['src/a.txt'] })).text).toContain('+two')
  },
  60_000,
)
