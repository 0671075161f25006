import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptRequest,
} from '@agentclientprotocol/sdk'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig, outline } from './support/capture-rig.ts'
import { TURNBACK } from './support/command-line.ts'

const AGENT = fileURLToPath(new URL('./support/acp-agent.ts', import.meta.url))

let rig: CaptureRig
const children: ChildProcess[] = []
beforeEach(async () => {
  rig = new CaptureRig('acp')
  rig.write('a.txt', 'one\n')
  rig.write('b.txt', 'two\n')
  await rig.init()
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rig.dispose()
})

interface Desk {
  readonly child: ChildProcess
  readonly editor: ClientConnection
  /** What the agent said, as it comes. */
  readonly said: string[]
  /** What stands on standard error. */
  talk(): string
  /** Until the agent said something that begins so. */
  hear(text: string): Promise<void>
  open(): Promise<string>
  prompt(sessionId: string, text: string): Promise<string>
}

function startProxy(words: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(TURNBACK, ['acp', ...words], {
    cwd: rig.root,
    env: { ...rig.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  return child
}

function sitDown(options: readonly string[] = [], env: Record<string, string> = {}): Desk {
  const child = startProxy([...options, '--', process.execPath, AGENT], env)
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('no pipes')
  let talk = ''
  stderr.setEncoding('utf8').on('data', (text: string) => {
    talk += text
  })
  const said: string[] = []
  let heard: (() => void) | null = null
  const editor = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') return
      said.push(update.content.text)
      heard?.()
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      writeFileSync(params.path, params.content)
      return {}
    })
    .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)))
  return {
    child,
    editor,
    said,
    talk: () => talk,
    async hear(text) {
      while (!said.some((each) => each.startsWith(text)))
        await new Promise<void>((done) => {
          heard = done
        })
    },
    async open() {
      const clientCapabilities = { fs: { writeTextFile: true, readTextFile: false } }
      const { agent } = editor
      await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities })
      const made = await agent.request(methods.agent.session.new, { cwd: rig.root, mcpServers: [] })
      return made.sessionId
    },
    async prompt(sessionId, text) {
      const asked: PromptRequest = { sessionId, prompt: [{ type: 'text', text }] }
      const answer = await editor.agent.request(methods.agent.session.prompt, asked)
      return answer.stopReason
    },
  }
}

const turns = () =>
  rig.deps.log
    .listTurns(rig.workspace.id)
    .map(({ kind, session, agent, prompt, endReason }) => [kind, session, agent, prompt, endReason])

const lastTurn = async () => {
  const row = rig.deps.log.listTurns(rig.workspace.id).findLast(({ kind }) => kind === 'agent')
  if (row === undefined) throw new Error('no turn')
  return rig.manifest(row.turn)
}

test('a prompt is a turn: begun before the agent works, with its tools, ended with its answer', async () => {
  const { open, prompt, child, talk } = sitDown()
  const session = await open()
  expect(await prompt(session, 'work please')).toBe('end_turn')
  // The answer is not passed on before the turn is recorded.
  expect(turns()).toEqual([['agent', 'session-1', 'small-agent', 'work please', 'completed']])
  const manifest = await lastTurn()
  expect(outline(manifest)).toEqual(['a.txt: file → file', 'b.txt: file → absent', 'c.txt: absent → file'])
  const sources = Object.fromEntries(manifest.entries.map(({ path, source }) => [path, source]))
  expect(sources).toEqual({ 'a.txt': 'tool', 'b.txt': 'shell', 'c.txt': 'tool' })
  expect(await prompt(session, 'refuse')).toBe('refusal')
  expect(turns().at(-1)).toEqual(['agent', 'session-1', 'small-agent', 'refuse', 'failed'])
  child.stdin?.end()
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(talk()).toBe('')
  const undone = rig.run(['undo', '--json'])
  expect(undone.json.status).toBe('nothing-to-do')
  expect(rig.run(['undo', '--json']).json).toMatchObject({ restored: ['a.txt', 'b.txt'], deleted: ['c.txt'] })
}, 60_000)

test('a cancelled prompt is an interrupted turn, under the name that was asked for', async () => {
  const { open, prompt, hear, editor } = sitDown(['--agent', 'mine'])
  const session = await open()
  const stop = prompt(session, 'wait')
  await hear('at it')
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: session })
  expect(await stop).toBe('cancelled')
  expect(turns()).toEqual([['agent', session, 'mine', 'wait', 'interrupted']])
}, 60_000)

test.each([
  ['die', [null, 'SIGKILL'], 'lost'],
  ['exit', [7, null], 'lost'],
])(
  'an agent that is gone in the middle of its turn (%s): the turn is told, and so is how it ended',
  async (word, end, reason) => {
    const { open, prompt, child } = sitDown()
    const gone = once(child, 'exit')
    const session = await open()
    prompt(session, word).catch(() => undefined)
    expect(await gone).toEqual(end)
    expect(turns()).toEqual([['agent', session, 'small-agent', word, reason]])
  },
  60_000,
)

test('a signal is passed on, and ends the turn as interrupted', async () => {
  const { open, prompt, hear, child } = sitDown()
  const gone = once(child, 'exit')
  const session = await open()
  prompt(session, 'hang').catch(() => undefined)
  await hear('written')
  child.kill('SIGTERM')
  expect(await gone).toEqual([null, 'SIGTERM'])
  expect(turns()).toEqual([['agent', session, 'small-agent', 'hang', 'interrupted']])
  expect(outline(await lastTurn())).toEqual(['e.txt: absent → file'])
}, 60_000)

test('long prompts and methods that it does not know pass unchanged', async () => {
  const { open, prompt, said, editor } = sitDown()
  const session = await open()
  const text = `tell ${'é😀"\\\n'.repeat(400_000)}`
  await prompt(session, text)
  const hash = createHash('sha256').update(text).digest('hex')
  expect(said).toEqual([`${text.length} ${hash}`])
  expect(turns().map(([, , , asked, reason]) => [asked?.slice(0, 8), reason])).toEqual([
    ['tell é😀', 'completed'],
  ])
  const answer = await editor.agent.request('_of/tomorrow', { sessionId: session, deep: [{ a: null }] })
  expect(answer).toEqual({ youAsked: '_of/tomorrow', params: { sessionId: session, deep: [{ a: null }] } })
}, 60_000)

test('a capture that fails is told, and the conversation goes on', async () => {
  const { open, prompt, talk } = sitDown([], { TURNBACK_HOME: '/dev/null/nowhere' })
  const session = await open()
  expect(await prompt(session, 'work')).toBe('end_turn')
  expect(await prompt(session, 'tell more')).toBe('end_turn')
  expect(readFileSync(rig.at('a.txt'), 'utf8')).toBe('edited\n')
  expect(talk()).toMatch(
    /^turnback: this turn is not recorded: .*\nThe conversation is not affected\.\n$|not affected/,
  )
  expect(talk().match(/not recorded/g)).toHaveLength(1)
  expect(turns()).toEqual([])
}, 60_000)

test('bytes that are no messages pass as they are; a program that is not there is said', async () => {
  const cat = startProxy(['--', 'cat'])
  const bytes = Buffer.concat([
    Buffer.from('no json\n{"half":\n\n\0\xff\r\n', 'latin1'),
    Buffer.from('{"id":1}'),
  ])
  const got: Buffer[] = []
  cat.stdout?.on('data', (piece: Buffer) => got.push(piece))
  cat.stdin?.end(bytes)
  expect(await once(cat, 'close')).toEqual([0, null])
  expect(Buffer.concat(got)).toEqual(bytes)
  const none = startProxy(['--', '/nowhere/agent'])
  expect(await once(none, 'close')).toEqual([127, null])
}, 60_000)
