import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { type AgentContext, agent, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'

/*
 * A small agent of the Agent Client Protocol, which does what it is asked at its word:
 *   work          edits a.txt, runs rm b.txt, has the editor write c.txt
 *   wait          works on d.txt until it is cancelled
 *   refuse        declines
 *   die | exit    writes e.txt and is gone, by SIGKILL | with code 7
 *   hang          writes e.txt and goes on until a signal ends it
 *   tell <text>   says how long the text is, and its hash
 */

const folders = new Map<string, string>()
const cancels = new Map<string, () => void>()

const app = agent({ name: 'small-agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'small-agent', version: '1' },
    agentCapabilities: {},
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `session-${folders.size + 1}`
    folders.set(sessionId, params.cwd)
    return { sessionId }
  })
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const text = prompt.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
    const at = (name: string): string => join(folders.get(sessionId) ?? '.', name)
    const [word = ''] = text.split(' ')
    return { stopReason: await act(word, { client, sessionId, text, at }) }
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => cancels.get(params.sessionId)?.())
  .onRequest('*', ({ method, params }) => ({ youAsked: method, params }))

interface Task {
  readonly client: AgentContext
  readonly sessionId: string
  readonly text: string
  at(name: string): string
}

type Stop = 'end_turn' | 'cancelled' | 'refusal'

async function act(word: string, task: Task): Promise<Stop> {
  const { client, sessionId, text, at } = task
  switch (word) {
    case 'work':
      await work(task)
      return 'end_turn'
    case 'wait': {
      writeFileSync(at('d.txt'), 'half')
      const cancelled = new Promise<void>((done) => cancels.set(sessionId, done))
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'at it' } },
      })
      await cancelled
      return 'cancelled'
    }
    case 'refuse':
      return 'refusal'
    case 'die':
    case 'exit':
    case 'hang':
      writeFileSync(at('e.txt'), 'half')
      await client.notify(methods.client.session.update, {
        sessionId,
        update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'written' } },
      })
      if (word === 'die') process.kill(process.pid, 'SIGKILL')
      if (word === 'exit') process.exit(7)
      return new Promise(() => setInterval(() => undefined, 1000))
    default: {
      const hash = createHash('sha256').update(text).digest('hex')
      await client.notify(methods.client.session.update, {
        sessionId,
        update: {
          sessionUpdate: 'agent_message_chunk',
          content: { type: 'text', text: `${text.length} ${hash}` },
        },
      })
      return 'end_turn'
    }
  }
}

async function work({ client, sessionId, at }: Task): Promise<void> {
  const update = methods.client.session.update
  const edit = { toolCallId: 'call-1', kind: 'edit', locations: [{ path: at('a.txt') }] } as const
  await client.notify(update, {
    sessionId,
    update: { sessionUpdate: 'tool_call', title: 'Edit a.txt', status: 'in_progress', ...edit },
  })
  writeFileSync(at('a.txt'), 'edited\n')
  await client.notify(update, {
    sessionId,
    update: { sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status: 'completed' },
  })
  const remove = { toolCallId: 'call-2', kind: 'execute', rawInput: { command: 'rm b.txt' } } as const
  await client.notify(update, {
    sessionId,
    update: { sessionUpdate: 'tool_call', title: 'Remove', status: 'in_progress', ...remove },
  })
  rmSync(at('b.txt'))
  await client.notify(update, {
    sessionId,
    update: { sessionUpdate: 'tool_call_update', toolCallId: 'call-2', status: 'completed' },
  })
  await client.request(methods.client.fs.writeTextFile, { sessionId, path: at('c.txt'), content: 'made\n' })
}

app.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
