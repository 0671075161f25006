import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AGENTS, type AgentName } from './adapter.ts'
import { loadAdapter } from './adapters.ts'
import { pathsOfPatch } from './patch-paths.ts'
import { findReader } from './transcripts.ts'

const GOLDEN = new URL('../../test/golden/hooks/', import.meta.url).pathname

async function read(agent: AgentName, payload: unknown, event: string | null = null, env = {}) {
  return (await loadAdapter(agent)).read(payload, event, { HOME: '/home/me', ...env })
}

function golden(agent: AgentName, name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(`${GOLDEN}${agent}/${name}.json`, 'utf8'))
}

describe.each(AGENTS)('%s', (agent) => {
  test('everything that it was seen to say is known', async () => {
    const names = readdirSync(`${GOLDEN}${agent}`).map((file) => file.slice(0, -'.json'.length))
    expect(names.length).toBeGreaterThan(7)
    for (const name of names) {
      const event = name.startsWith('session-') ? name.replace('-s', 'S').replace('-e', 'E') : null
      const { news, unknown } = await read(agent, golden(agent, name), event)
      expect({ name, unknown }).toEqual({ name, unknown: null })
      for (const each of news) expect(each.session).not.toBe('')
    }
  })

  test('whatever it says, nothing is thrown', async () => {
    const adapter = await loadAdapter(agent)
    const names = Object.keys({ ...golden(agent, 'prompt'), ...golden(agent, 'write-after'), event: '' })
    const fields = fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.jsonValue(), fc.string()))
    fc.assert(
      fc.property(fc.oneof(fields, fc.jsonValue()), fc.option(fc.string()), (payload, event) => {
        const { news, unknown } = adapter.read(payload, event, {})
        expect(news.length > 0 || unknown === null || unknown.length > 0).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

test('what is read is not said to be written', async () => {
  const input = { file_path: '/p/a', path: '/p/a', filePath: '/p/a' }
  const asked = [
    await read('claude-code', {
      ...golden('claude-code', 'write-before'),
      tool_name: 'Read',
      tool_input: input,
    }),
    await read('codex', { ...golden('codex', 'write-before'), tool_name: 'view_image', tool_input: input }),
    await read('gemini-cli', {
      ...golden('gemini-cli', 'write-before'),
      tool_name: 'read_file',
      tool_input: input,
    }),
    await read('copilot-cli', {
      ...golden('copilot-cli', 'write-before'),
      toolName: 'view',
      toolArgs: input,
    }),
    await read('cursor', { ...golden('cursor', 'write-before'), tool_name: 'Read', tool_input: input }),
    await read('opencode', { ...golden('opencode', 'write-before'), tool: 'read', args: input }),
  ]
  expect(asked.map(({ news }) => news.map(({ type, command, paths }) => ({ type, command, paths })))).toEqual(
    asked.map(() => [{ type: 'tool.before', command: null, paths: [] }]),
  )
})

test('tools of MCP servers name what they write', async () => {
  const call = (tool_name: string) =>
    read('claude-code', { ...golden('claude-code', 'write-before'), tool_name, tool_input: { path: '/p/a' } })
  expect((await call('mcp__filesystem__write_file')).news[0]?.paths).toEqual(['/p/a'])
  expect((await call('mcp__filesystem__read_file')).news[0]?.paths).toEqual([])
})

test('a patch names the files that it writes, also in a shell', async () => {
  const patch = [
    "apply_patch <<'EOF'",
    '*** Begin Patch',
    '*** Add File: a b.txt',
    '+*** Delete File: not a line of the envelope',
    '*** Update File: old.txt',
    '*** Move to: dir/new.txt  ',
    '@@',
    '-x',
    '*** Delete File: gone.txt',
    '*** End Patch',
    'EOF',
  ].join('\n')
  expect(pathsOfPatch(patch)).toEqual(['a b.txt', 'old.txt', 'dir/new.txt', 'gone.txt'])
  expect(pathsOfPatch('*** Update File: without its beginning')).toEqual([])
  const shell = { ...golden('codex', 'shell-before'), tool_input: { command: patch } }
  expect((await read('codex', shell)).news[0]).toMatchObject({ command: patch, paths: { length: 4 } })
})

test('Copilot CLI spells its events in two ways, and says nothing of where its transcript is until the end', async () => {
  const camel = (await read('copilot-cli', golden('copilot-cli', 'write-before'))).news
  const snake = (await read('copilot-cli', golden('copilot-cli', 'write-before-in-snake-case'))).news
  expect(camel).toMatchObject([{ type: 'tool.before', tool: 'create', paths: ['$TREE/made.txt'] }])
  expect(snake).toMatchObject([{ type: 'tool.before', tool: 'create', paths: ['$TREE/made.txt'] }])
  expect(camel[0]?.transcript).toMatch(/^\/home\/me\/\.copilot\/session-state\/[\w-]+\/events\.jsonl$/)
  const moved = await read('copilot-cli', golden('copilot-cli', 'prompt'), null, { COPILOT_HOME: '/else' })
  expect(moved.news[0]?.transcript).toMatch(/^\/else\/session-state\/[\w-]+\/events\.jsonl$/)
  const odd = await read('copilot-cli', { ...golden('copilot-cli', 'prompt'), sessionId: '../../x' })
  expect(odd.news[0]?.transcript).toBeNull()
})

test('Copilot CLI tells of a model that refuses only by how its session ends', async () => {
  const end = golden('copilot-cli', 'session-end')
  const typesOf = async (reason: string) =>
    (await read('copilot-cli', { ...end, reason }, 'sessionEnd')).news.map((each) => [each.type, each.reason])
  expect(await typesOf('error')).toEqual([
    ['turn.end', 'failed'],
    ['session.end', 'completed'],
  ])
  expect(await typesOf('complete')).toEqual([['session.end', 'completed']])
})

test.each([
  ['completed', 'completed'],
  ['aborted', 'interrupted'],
  ['error', 'failed'],
  ['something new', 'completed'],
  ['constructor', 'completed'],
])('Cursor’s stop with %s is %s', async (status, reason) => {
  expect((await read('cursor', { ...golden('cursor', 'stop'), status })).news).toMatchObject([
    { type: 'turn.end', reason },
  ])
})

describe('transcripts', () => {
  const lines = (...all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('')

  test('of Copilot CLI: program, model, and that it was broken off', () => {
    const start = {
      type: 'session.start',
      data: { copilotVersion: '1.0.102' },
      timestamp: '2026-11-30T10:00:00Z',
    }
    const answer = {
      type: 'assistant.message',
      data: { model: 'gpt-5.1' },
      timestamp: '2026-11-30T10:00:01Z',
    }
    const abort = { type: 'abort', data: { reason: 'user_initiated' }, timestamp: '2026-11-30T10:00:02Z' }
    const idle = { type: 'session.idle', data: {}, timestamp: '2026-11-30T10:00:03Z' }
    const read = findReader('copilot-cli')
    const text = lines(start, answer, abort, idle)
    expect(read?.(text, text)).toEqual({
      version: '1.0.102',
      model: 'gpt-5.1',
      interruptedMs: Date.parse('2026-11-30T10:00:02Z'),
    })
    const on = lines(start, answer, abort, { type: 'user.message', data: {} })
    expect(read?.(on, on).interruptedMs).toBeNull()
  })

  test('of Codex: the version is in its first line, the model in the last context', () => {
    const meta = { type: 'session_meta', payload: { cli_version: '0.171.0' } }
    const context = { type: 'turn_context', payload: { model: 'gpt-5.1-codex' } }
    const done = { type: 'event_msg', payload: { type: 'task_complete' } }
    const text = lines(meta, context, done)
    expect(findReader('codex')?.(text, text)).toEqual({
      version: '0.171.0',
      model: 'gpt-5.1-codex',
      interruptedMs: null,
    })
  })

  test('what is cut through, or no JSON, is passed over', () => {
    for (const agent of AGENTS)
      expect(findReader(agent)?.('{"type":"se', 'rver"}\n\u0000\n[1]\n"x"\nnull\n{"type":')).toEqual(
        findReader(agent) === null ? undefined : { model: null, version: null, interruptedMs: null },
      )
  })
})
