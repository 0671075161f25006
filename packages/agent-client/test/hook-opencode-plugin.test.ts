import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pluginText } from '#adapters/opencode/plugin.ts'

type Call = (...words: unknown[]) => Promise<void>
type Hooks = Readonly<
  Record<'chat.message' | 'tool.execute.before' | 'tool.execute.after' | 'event' | 'dispose', Call>
>

let top: string
let made = 0

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-plugin-'))
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

/** A stand-in of the command line: keeps what it was told, a line each, and answers as it is told to. */
function program(answer = ''): string {
  const path = join(top, `turnback ${++made}`)
  writeFileSync(
    path,
    `#!/bin/sh\nread -r line\nprintf '%s %s\\n' "$*" "$line" >>'${top}/told'\nprintf %s '${answer}'\n`,
  )
  chmodSync(path, 0o755)
  return path
}

const told = (): Record<string, unknown>[] =>
  existsSync(join(top, 'told'))
    ? readFileSync(join(top, 'told'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line.replace(/^hook opencode /, '')))
    : []

/** As OpenCode loads it: from the file that the installer writes. */
async function load(path: string, client: unknown = undefined): Promise<Hooks> {
  const file = join(top, `plugin-${++made}.mjs`)
  writeFileSync(file, pluginText(path))
  const loaded = await import(pathToFileURL(file).href)
  expect(Object.keys(loaded)).toEqual(['default'])
  expect(loaded.default).toMatchObject({
    id: 'turnback',
    server: expect.any(Function),
    setup: expect.any(Function),
  })
  return loaded.default.server({ directory: '/project', client })
}

const message = (id: string) => ({ message: { id, model: { providerID: 'standin', modelID: 'm' } } })

test('what OpenCode does is told in its order, and it waits for the beginning and before a tool', async () => {
  const hooks = await load(program())
  const parts = [{ id: 'prt_1', type: 'text', text: 'do it' }]
  await hooks['chat.message']({ sessionID: 's' }, { ...message('msg_1'), parts })
  expect(told()).toEqual([
    {
      event: 'turn.start',
      sessionID: 's',
      parentID: null,
      messageID: 'msg_1',
      directory: '/project',
      prompt: 'do it',
      model: 'standin/m',
    },
  ])
  expect(parts).toHaveLength(1)
  const args = { filePath: '/project/a' }
  await hooks['tool.execute.before']({ tool: 'write', sessionID: 's', callID: 'c' }, { args })
  expect(told().at(-1)).toMatchObject({ event: 'tool.before', tool: 'write', args, messageID: 'msg_1' })
  void hooks['tool.execute.after']({ tool: 'write', sessionID: 's', callID: 'c', args }, { output: '' })
  void hooks.event({ event: { type: 'todo.updated', properties: { sessionID: 's', todos: [] } } })
  void hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } })
  // Comes again, of no turn.
  void hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } })
  await hooks.dispose()
  expect(told().map(({ event }) => event)).toEqual([
    ...['turn.start', 'tool.before', 'tool.after', 'checklist', 'turn.end'],
  ])
  expect(told().at(-1)).toMatchObject({ reason: 'completed' })
})

test.each([
  ['MessageAbortedError', 'interrupted'],
  ['ProviderAuthError', 'failed'],
])('%s ends a turn as %s', async (name, reason) => {
  const hooks = await load(program())
  await hooks['chat.message']({ sessionID: 's' }, { ...message('msg_1'), parts: [] })
  await hooks.event({ event: { type: 'session.error', properties: { sessionID: 's', error: { name } } } })
  await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } })
  expect(told().at(-1)).toMatchObject({ event: 'turn.end', reason })
})

test.each([true, false])(
  'a sub-agent’s session names the one above all, heard of its making: %s',
  async (isHeard) => {
    const get = async ({ path }: { path: { id: string } }) => ({
      data: { parentID: { child: 's', grandchild: 'child' }[path.id] },
    })
    const hooks = await load(program(), isHeard ? undefined : { session: { get } })
    await hooks['chat.message']({ sessionID: 's' }, { ...message('msg_1'), parts: [] })
    for (const [id, parentID] of [
      ['child', 's'],
      ['grandchild', 'child'],
    ]) {
      if (isHeard)
        await hooks.event({ event: { type: 'session.created', properties: { info: { id, parentID } } } })
      await hooks['chat.message']({ sessionID: id }, { ...message(`of ${id}`), parts: [] })
      await hooks['tool.execute.before']({ tool: 'bash', sessionID: id, callID: 'c' }, { args: {} })
      expect(told().at(-1)).toMatchObject({ sessionID: id, parentID: 's', messageID: 'msg_1' })
    }
  },
)

test('what the agent is to know becomes a part of the message, the last one', async () => {
  const hooks = await load(program('{"context":"files are not as you left them"}'))
  const parts: Record<string, unknown>[] = [{ id: 'prt_1', type: 'text', text: 'go on' }]
  await hooks['chat.message']({ sessionID: 's' }, { ...message('msg_1'), parts })
  expect(parts[1]).toEqual({
    id: 'prt_1t',
    sessionID: 's',
    messageID: 'msg_1',
    type: 'text',
    text: 'files are not as you left them',
    synthetic: true,
  })
})

test('OpenCode that ends in the middle says that the session does', async () => {
  const hooks = await load(program())
  await hooks['chat.message']({ sessionID: 's' }, { ...message('msg_1'), parts: [] })
  await hooks.dispose()
  expect(told().map(({ event }) => event)).toEqual(['turn.start', 'session.end'])
})

test('nothing that goes wrong reaches OpenCode', async () => {
  for (const path of [join(top, 'not there'), program('no JSON'), program('[1'), '/bin/false']) {
    const hooks = await load(path, { session: { get: () => Promise.reject(new Error('away')) } })
    const parts = [{ id: 'prt_1', type: 'text', text: 'x' }]
    for (const words of [
      [{ sessionID: 's' }, { ...message('m'), parts }],
      [undefined, undefined],
      [null, {}],
    ]) {
      await hooks['chat.message'](...words)
      await hooks['tool.execute.before'](...words)
      await hooks['tool.execute.after'](...words)
      await hooks.event(...words)
    }
    await hooks.dispose()
    expect(parts).toHaveLength(1)
  }
})
