import { beforeEach, expect, test } from 'vitest'
import { type Act, Conversation } from './conversation.ts'
import { readMessage } from './message.ts'

let talk: Conversation
let turns = 0
beforeEach(() => {
  turns = 0
  talk = new Conversation('/started', () => `k${++turns}`)
})

/** What an act is, in short. */
function wordsOf(act: Act): string {
  switch (act.type) {
    case 'begin':
      return `begin ${act.turn.key} ${act.turn.session} ${act.turn.folder} ${act.prompt}`
    case 'tool': {
      const { type, tool, command, paths } = act.news
      return [type, act.turn.key, tool, command, paths.join(' ')].join(' ')
    }
    case 'end':
      return `end ${act.turn.key} ${act.reason}`
    case 'lost':
      return `lost ${act.turn.key}`
  }
}

const words = (acts: readonly Act[]): string[] => acts.map(wordsOf)

const from = (side: 'fromEditor' | 'fromAgent') => (message: object) => {
  const read = readMessage(message)
  if (read === null) throw new Error('no message')
  return words(talk[side](read))
}
const editor = from('fromEditor')
const agent = from('fromAgent')

const prompt = (id: number | string, text: string, sessionId = 's') =>
  editor({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text }] } })
const answer = (id: number | string, stopReason: string) => agent({ id, result: { stopReason } })
const update = (update: object, sessionId = 's') =>
  agent({ method: 'session/update', params: { sessionId, update } })
const useSecondVersion = () => {
  editor({ id: 'i', method: 'initialize', params: {} })
  agent({ id: 'i', result: { protocolVersion: 2, agentInfo: { name: 'two' } } })
}
const state = (state: string, more: object = {}) => update({ sessionUpdate: 'state_update', state, ...more })

test('a prompt and its answer are a turn, in the folder that its session was made in', () => {
  editor({ id: 1, method: 'session/new', params: { cwd: '/tree', mcpServers: [] } })
  agent({ id: 1, result: { sessionId: 's' } })
  expect(prompt(2, 'do it')).toEqual(['begin k1 s /tree do it'])
  expect(answer('2', 'end_turn'), 'another id').toEqual([])
  expect(answer(2, 'end_turn')).toEqual(['end k1 completed'])
  expect(prompt(3, 'elsewhere', 'other')).toEqual(['begin k2 other /started elsewhere'])
})

test.each([
  ['end_turn', 'completed'],
  ['cancelled', 'interrupted'],
  ['refusal', 'failed'],
  ['max_tokens', 'failed'],
  ['max_turn_requests', 'failed'],
  ['_of_tomorrow', 'completed'],
])('the answer %s is a turn that is %s', (stop, reason) => {
  prompt(1, '')
  expect(answer(1, stop)).toEqual([`end k1 ${reason}`])
})

test('an error fails the turn, unless the person cancelled it', () => {
  prompt(1, '')
  expect(agent({ id: 1, error: { code: -32603 } })).toEqual(['end k1 failed'])
  prompt(2, '')
  editor({ method: 'session/cancel', params: { sessionId: 's' } })
  expect(agent({ id: 2, error: { code: -32603 } })).toEqual(['end k2 interrupted'])
  prompt(3, '')
  editor({ method: '$/cancel_request', params: { requestId: 3 } })
  expect(agent({ id: 3, error: { code: -32800 } })).toEqual(['end k3 interrupted'])
})

test('a prompt that waits for the running one is the next turn', () => {
  prompt(1, 'first')
  expect(prompt(2, 'second')).toEqual([])
  expect(answer(1, 'end_turn')).toEqual(['end k1 completed', 'begin k2 s /started second'])
  expect(answer(2, 'end_turn')).toEqual(['end k2 completed'])
})

test('tools that change files are told of, from when they run', () => {
  prompt(1, '')
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 'Edit', kind: 'edit', status: 'pending' }
  expect(update({ ...call, locations: [{ path: '/tree/a', line: 3 }] }), 'waits for leave').toEqual([])
  const more = { sessionUpdate: 'tool_call_update', toolCallId: 'c' }
  expect(update({ ...more, status: 'in_progress' })).toEqual(['tool.before k1 edit  /tree/a'])
  expect(update({ ...more, title: 'Edit more' })).toEqual([])
  const content = [{ type: 'diff', path: '/tree/b', oldText: null, newText: 'x' }]
  expect(update({ ...more, status: 'completed', content })).toEqual(['tool.after k1 edit  /tree/a /tree/b'])
  expect(update({ ...call, kind: 'read', status: 'in_progress' })).toEqual([])
  expect(
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'd',
      kind: 'execute',
      status: 'completed',
      title: 'ls',
    }),
  ).toEqual(['tool.before k1 execute ls ', 'tool.after k1 execute ls '])
  const run = { toolCallId: 'e', kind: 'execute', status: 'in_progress', rawInput: { command: 'rm x' } }
  expect(update({ sessionUpdate: 'tool_call', locations: [{ path: '/tree' }], ...run })).toEqual([
    'tool.before k1 execute rm x ',
  ])
})

test('what the editor does for the agent counts as the agent’s', () => {
  prompt(1, '')
  const asked = {
    id: 0,
    method: 'fs/write_text_file',
    params: { sessionId: 's', path: '/tree/a', content: '' },
  }
  expect(agent(asked)).toEqual(['tool.before k1 fs/write_text_file  /tree/a'])
  expect(editor({ id: 0, result: null })).toEqual(['tool.after k1 fs/write_text_file  /tree/a'])
  const terminal = { sessionId: 's', command: 'make', args: ['-j', '2'] }
  expect(agent({ id: 1, method: 'terminal/create', params: terminal })).toEqual([
    'tool.before k1 terminal/create make -j 2 ',
  ])
  expect(editor({ id: 1, result: { terminalId: 't1' } })).toEqual([])
  agent({ id: 2, method: 'terminal/wait_for_exit', params: { sessionId: 's', terminalId: 't1' } })
  expect(editor({ id: 2, result: { exitCode: 0 } })).toEqual(['tool.after k1 terminal/create make -j 2 '])
  expect(agent({ id: 3, method: 'terminal/release', params: { sessionId: 's', terminalId: 't1' } })).toEqual(
    [],
  )
  expect(agent({ id: 4, method: 'terminal/create', params: terminal })).toHaveLength(1)
  expect(editor({ id: 4, error: { code: -32000 } })).toEqual(['tool.after k1 terminal/create make -j 2 '])
})

test('a past that is told again is no news; a tool without a prompt is a turn of its own until the next', () => {
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', kind: 'edit', status: 'in_progress' }
  editor({ id: 1, method: 'session/load', params: { sessionId: 's', cwd: '/tree', mcpServers: [] } })
  expect(update(call)).toEqual([])
  agent({ id: 1, result: null })
  expect(update({ ...call, toolCallId: 'd' })).toEqual(['begin k1 s /tree null', 'tool.before k1 edit  '])
  expect(prompt(2, 'go')).toEqual(['begin k2 s /tree go'])
})

test('an agent that is gone leaves its turns: lost, or interrupted when it was told to end', () => {
  prompt(1, '', 'a')
  prompt(2, '', 'b')
  editor({ method: 'session/cancel', params: { sessionId: 'b' } })
  expect(words(talk.ended(false))).toEqual(['lost k1', 'end k2 interrupted'])
  prompt(3, '', 'a')
  expect(words(talk.ended(true))).toEqual(['end k3 interrupted'])
  prompt(4, '', 'c')
  editor({ id: 5, method: 'session/close', params: { sessionId: 'c' } })
  expect(agent({ id: 5, result: {} })).toEqual(['end k4 interrupted'])
})

test('version 2: a turn ends when the session is idle, and what is said meanwhile belongs to it', () => {
  useSecondVersion()
  expect(talk.agent).toBe('two')
  expect(prompt(1, 'go')).toEqual(['begin k1 s /started go'])
  expect(state('idle', { stopReason: 'end_turn' }), 'of the work before').toEqual([])
  expect(agent({ id: 1, result: { messageId: 'm' } })).toEqual([])
  expect(state('running')).toEqual([])
  expect(prompt(2, 'and this')).toEqual([])
  expect(state('requires_action')).toEqual([])
  expect(state('idle', { stopReason: 'end_turn' })).toEqual(['end k1 completed'])
  expect(state('idle', { stopReason: 'end_turn' }), 'told again').toEqual([])
  expect(state('running'), 'on its own').toEqual(['begin k2 s /started null'])
  expect(state('idle', { stopReason: 'error', error: { code: 1 } })).toEqual(['end k2 failed'])
  prompt(3, 'no')
  expect(agent({ id: 3, error: { code: -32602 } }), 'was not taken').toEqual(['end k3 failed'])
})

test('version 2: terminals and diffs', () => {
  useSecondVersion()
  prompt(1, 'go')
  const terminal = { sessionUpdate: 'terminal_update', terminalId: 't' }
  expect(update({ ...terminal, command: 'make' })).toEqual(['tool.before k1 terminal make '])
  expect(update({ ...terminal, exitStatus: { exitCode: 0 } })).toEqual(['tool.after k1 terminal make '])
  const changes = [{ operation: 'move', oldPath: '/tree/a', path: '/tree/b' }]
  const done = { toolCallId: 'c', status: 'completed', content: [{ type: 'diff', changes }] }
  expect(update({ sessionUpdate: 'tool_call_update', name: 'mv', ...done })).toEqual([
    'tool.before k1 mv  /tree/a /tree/b',
    'tool.after k1 mv  /tree/a /tree/b',
  ])
})
