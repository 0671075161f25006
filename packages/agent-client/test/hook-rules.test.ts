import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HookDesk } from './support/hook-desk.ts'
import { golden } from './support/hook-scene.ts'

let desk: HookDesk

beforeEach(async () => {
  desk = new HookDesk('hooks')
  desk.write('kept.txt', 'one\n')
  desk.write('gone.txt', 'gone\n')
})
afterEach(() => desk.dispose())

const ends = () => desk.turns().map(({ endReason }) => endReason)
const prompts = () => desk.turns().map(({ prompt }) => prompt)

describe('Claude Code', () => {
  const say = (name: string, changed: Record<string, unknown> = {}) => desk.hook('claude-code', name, changed)

  test('a prompt that is queued begins no turn; its own begins without a word, and is known by it', async () => {
    await say('prompt', { prompt: 'first' })
    await say('prompt', { prompt: 'second, typed meanwhile' })
    expect(prompts()).toEqual(['first'])
    await say('stop')
    await say('write-before', { prompt_id: 'of the second' })
    await say('write-after', { prompt_id: 'of the second' })
    await say('stop', { prompt_id: 'of the second' })
    expect(prompts()).toEqual(['first', 'second, typed meanwhile'])
    expect(ends()).toEqual(['completed', 'completed'])
  })

  test('what goes on after a Stop that somebody’s hook refused is a turn that continues it', async () => {
    await say('prompt')
    await say('stop')
    // Words alone are no turn.
    await say('stop-again')
    expect(ends()).toEqual(['completed'])
    await say('shell-before')
    await say('shell-after')
    await say('stop-again')
    expect(ends()).toEqual(['completed', 'completed'])
    expect(desk.turns()[1]).toMatchObject({ key: desk.turns()[0]?.key })
    expect((await desk.lastManifest()).lastMessage).toBe('Now really.')
  })

  test('a fault of the service is a failed turn', async () => {
    await say('prompt')
    await say('stop-failure')
    expect(ends()).toEqual(['failed'])
  })

  test('a tool that was interrupted ends the turn; one that failed does not', async () => {
    await say('prompt')
    await say('shell-before')
    await say('bash-failure')
    expect(desk.turns()[0]).toMatchObject({ isOpen: true, toolsInFlight: 0 })
    await say('shell-before')
    await say('bash-interrupted')
    expect(ends()).toEqual(['interrupted'])
  })

  test('a sub-agent begins and ends no turn, and what its tools write is the turn’s', async () => {
    await say('prompt')
    await say('subagent-start')
    await say('subagent-write-before')
    desk.write('sub.txt', 'sub\n')
    await say('subagent-stop')
    expect(ends()).toEqual([null])
    await say('stop')
    expect(ends()).toEqual(['completed'])
    const { entries } = await desk.lastManifest()
    expect(entries.map(({ path, source }) => ({ path, source }))).toEqual([
      { path: 'sub.txt', source: 'tool' },
    ])
  })

  test('a session that ends leaves its turn behind', async () => {
    await say('prompt')
    await say('session-end')
    expect(ends()).toEqual(['lost'])
  })

  test('the model and the version are what the transcript says', async () => {
    const transcript_path = desk.transcript([
      { type: 'user', version: '2.1.332', message: { role: 'user', content: 'go' } },
      { type: 'assistant', version: '2.1.332', message: { role: 'assistant', model: 'claude-sonnet-4-5' } },
      { type: 'assistant', message: { role: 'assistant', model: '<synthetic>' } },
    ])
    await say('prompt', { transcript_path })
    await say('stop', { transcript_path })
    expect((await desk.lastManifest()).agent).toEqual({
      name: 'claude-code',
      version: '2.1.332',
      model: 'claude-sonnet-4-5',
    })
  })

  test('its checklist is kept with the turn', async () => {
    await say('prompt')
    await say('todo-after')
    await say('task-create-after')
    await say('task-update-after')
    const [turn] = desk.turns()
    expect(turn && desk.deps.agents.listChecklists(turn.turn)).toMatchObject([
      {
        isWhole: true,
        items: [
          { id: null, text: 'Write made.txt', status: 'done' },
          { id: null, text: 'Remove gone.txt', status: 'in-progress' },
        ],
      },
      { isWhole: false, items: [{ id: '1', text: 'Tidy up', status: 'pending' }] },
      { isWhole: false, items: [{ id: '1', text: null, status: 'done' }] },
    ])
  })
})

test('what a checklist holds is masked like a prompt', async () => {
  const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  await desk.hook('claude-code', 'prompt')
  await desk.hook('claude-code', 'todo-after', {
    tool_input: { todos: [{ content: `push with ${token}`, status: 'pending' }] },
  })
  const [turn] = desk.turns()
  expect(turn && desk.deps.agents.listChecklists(turn.turn)).toMatchObject([
    { items: [{ text: 'push with [masked]', status: 'pending' }] },
  ])
})

describe('Codex', () => {
  const say = (name: string, changed: Record<string, unknown> = {}) => desk.hook('codex', name, changed)

  test('an interrupt ends the turn as such', async () => {
    await say('prompt')
    await say('shell-before')
    await say('interrupt')
    expect(ends()).toEqual(['interrupted'])
  })

  test('a sub-agent’s turn id opens no turn', async () => {
    await say('prompt')
    await say('subagent-start')
    await say('subagent-write-before')
    desk.write('sub.txt', 'sub\n')
    await say('subagent-stop')
    await say('stop')
    expect(ends()).toEqual(['completed'])
    const { entries } = await desk.lastManifest()
    expect(entries.map(({ path, source }) => ({ path, source }))).toEqual([
      { path: 'sub.txt', source: 'tool' },
    ])
  })

  test('its older notice ends a turn, and none that is not there', async () => {
    await say('notify')
    expect(ends()).toEqual([])
    await say('prompt')
    const { session_id, turn_id } = golden('codex', 'prompt', { tree: desk.root, home: desk.top })
    const notice = { type: 'agent-turn-complete', 'thread-id': session_id, 'turn-id': turn_id }
    // It comes as an argument, and nothing is piped in.
    expect(await desk.command(['hook', 'codex', JSON.stringify(notice)])).toEqual({ code: 0, out: '' })
    expect(ends()).toEqual(['completed'])
  })
})

describe('agents that do not name their turns', () => {
  test('Gemini CLI: another beginning ends what was broken off; what goes on after an end is a turn', async () => {
    await desk.hook('gemini-cli', 'prompt', { prompt: 'first' })
    await desk.hook('gemini-cli', 'write-before')
    await desk.hook('gemini-cli', 'prompt', { prompt: 'second', timestamp: '2026-11-30T10:05:00.000Z' })
    expect(ends()).toEqual(['superseded', null])
    await desk.hook('gemini-cli', 'stop')
    await desk.hook('gemini-cli', 'shell-before')
    await desk.hook('gemini-cli', 'stop')
    expect(ends()).toEqual(['superseded', 'completed', 'completed'])
  })

  test('Copilot CLI: a sub-agent is known by its process', async () => {
    desk.pid = process.ppid
    await desk.hook('copilot-cli', 'prompt', {}, 'userPromptSubmitted')
    await desk.hook('copilot-cli', 'write-before', { sessionId: 'of a sub-agent' }, 'preToolUse')
    desk.write('made.txt', 'made\n')
    await desk.hook('copilot-cli', 'write-after', { sessionId: 'of a sub-agent' }, 'postToolUse')
    await desk.hook('copilot-cli', 'stop', {}, 'agentStop')
    expect(ends()).toEqual(['completed'])
    expect((await desk.lastManifest()).entries).toMatchObject([{ path: 'made.txt', source: 'tool' }])
  })

  test('OpenCode: a sub-agent’s session belongs to its parent’s turn', async () => {
    await desk.hook('opencode', 'prompt')
    await desk.hook('opencode', 'subagent-write-before')
    desk.write('sub.txt', 'sub\n')
    await desk.hook('opencode', 'stop')
    expect(ends()).toEqual(['completed'])
    expect((await desk.lastManifest()).entries).toMatchObject([{ path: 'sub.txt', source: 'tool' }])
  })
})

describe('where a turn is', () => {
  test('a turn stays where it began, wherever its agent goes', async () => {
    const elsewhere = join(desk.top, 'elsewhere')
    await desk.hook('claude-code', 'prompt')
    desk.useTree('elsewhere')
    const cwd = elsewhere
    const made = join(desk.top, 'tree/made.txt')
    await desk.hook('claude-code', 'write-before', { cwd, tool_input: { file_path: made, content: '' } })
    writeFileSync(made, 'made\n')
    await desk.hook('claude-code', 'stop', { cwd })
    expect(desk.deps.log.listWorkspaces()).toHaveLength(1)
    expect((await desk.lastManifest()).entries).toMatchObject([{ path: 'made.txt', source: 'tool' }])
  })

  test('the next turn is where its agent is by then, and ends the one that was left open', async () => {
    await desk.hook('claude-code', 'prompt')
    desk.useTree('elsewhere')
    await desk.hook('claude-code', 'prompt', { prompt_id: 'another', prompt: 'go on here' })
    expect(desk.turns()).toMatchObject([{ endReason: 'superseded' }, { isOpen: true, prompt: 'go on here' }])
    expect(new Set(desk.turns().map(({ workspace }) => workspace)).size).toBe(2)
  })

  test('a turn whose folder is gone is in nobody’s way', async () => {
    await desk.hook('claude-code', 'prompt', { prompt: 'first' })
    rmSync(desk.root, { recursive: true })
    desk.useTree('elsewhere')
    await desk.hook('claude-code', 'prompt', { prompt_id: 'another', prompt: 'second' })
    desk.write('made.txt')
    await desk.hook('claude-code', 'stop', { prompt_id: 'another' })
    expect(desk.turns()).toMatchObject([
      { prompt: 'first', isOpen: true },
      { prompt: 'second', endReason: 'completed', created: 1 },
    ])
    expect(desk.noted()).toMatchObject([{ event: 'failed', code: 'NO_WORKSPACE' }])
  })

  test('in the home folder nothing is recorded, and word is left', async () => {
    const home = join(desk.top, 'user')
    expect(await desk.hook('claude-code', 'prompt', { cwd: home })).toBe('')
    expect(await desk.hook('gemini-cli', 'prompt', { cwd: '/' })).toBe('{}')
    expect(desk.deps.log.listWorkspaces()).toEqual([])
    expect(desk.noted()).toMatchObject([
      { event: 'failed', code: 'ROOT_REFUSED', root: home },
      { event: 'failed', code: 'ROOT_REFUSED', root: '/' },
    ])
  })

  test('ends of what nobody saw begin make no workspace', async () => {
    for (const name of ['stop', 'session-end']) await desk.hook('claude-code', name)
    expect(desk.deps.log.listWorkspaces()).toEqual([])
  })
})

describe('the agent is told of a rewind', () => {
  test('once, at the beginning of the next turn', async () => {
    await desk.hook('claude-code', 'prompt')
    for (let i = 0; i < 60; i++) desk.write(`made-${String(i).padStart(2, '0')}.txt`)
    await desk.hook('claude-code', 'stop')
    expect(await desk.json('undo')).toMatchObject({ status: 'done' })
    // Another session did not know the files as they were.
    expect(await desk.hook('claude-code', 'prompt', { session_id: 'other', prompt_id: 'o' })).toBe('')
    const said: unknown = JSON.parse(await desk.hook('claude-code', 'prompt', { prompt_id: 'next' }))
    expect(said).toMatchObject({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit' } })
    expect(JSON.stringify(said)).toMatch(/made-00\.txt.*made-49\.txt.*and 10 more/)
    expect(JSON.stringify(said)).not.toContain('made-50.txt')
    await desk.hook('claude-code', 'stop', { prompt_id: 'next' })
    expect(await desk.hook('claude-code', 'prompt', { prompt_id: 'third' })).toBe('')
  })

  test.each([
    ['codex', 'UserPromptSubmit'],
    ['gemini-cli', 'BeforeAgent'],
  ] as const)('in the form of %s', async (agent, hookEventName) => {
    await desk.hook(agent, 'prompt')
    desk.write('made.txt')
    await desk.hook(agent, 'stop')
    await desk.json('undo')
    const next = { turn_id: 'next', timestamp: '2026-11-30T11:00:00.000Z' }
    expect(JSON.parse(await desk.hook(agent, 'prompt', next))).toEqual({
      hookSpecificOutput: { hookEventName, additionalContext: expect.stringContaining('- made.txt') },
    })
  })
})

describe('what a hook is given', () => {
  test('a test of the installation leaves its word and does nothing else', async () => {
    const nonce = { turnbackSelfTest: 'n-1' }
    await desk.hook('claude-code', 'prompt', nonce)
    await desk.hook('cursor', 'stop', { turnbackSelfTest: 'n-2' }, 'stop')
    const { log } = desk.deps
    expect(log.findFact('selfTest:claude-code:')).toBe('n-1')
    expect(log.findFact('selfTest:cursor:stop')).toBe('n-2')
    expect(log.listWorkspaces()).toEqual([])
    expect(log.findFact('fired:claude-code')).toBeNull()
    await desk.hook('claude-code', 'prompt')
    expect(Date.parse(log.findFact('fired:claude-code') ?? '')).toBeGreaterThan(0)
  })

  test('news that is not known is noted once', async () => {
    for (let i = 0; i < 2; i++) await desk.hook('claude-code', 'prompt', { hook_event_name: 'Dreaming' })
    expect(desk.noted()).toMatchObject([
      { event: 'not-understood', agent: 'claude-code', what: 'event Dreaming' },
    ])
    expect(desk.deps.log.listWorkspaces()).toEqual([])
  })

  test.each(['', 'no JSON', '[]', 'null', '{}', '{"session_id":7}', '{"session_id":"s"', '"text"'])(
    '%j is no news, and no fault of the agent',
    async (text) => {
      for (const agent of ['claude-code', 'codex', 'opencode', 'copilot-cli'])
        expect(await desk.command(['hook', agent], text)).toEqual({ code: 0, out: '' })
      for (const agent of ['gemini-cli', 'cursor'])
        expect(await desk.command(['hook', agent], text)).toEqual({ code: 0, out: '{}' })
      expect(desk.deps.log.listWorkspaces()).toEqual([])
      expect(desk.noted().length).toBeGreaterThan(0)
    },
  )

  test('of news that is no JSON nothing comes into the log', async () => {
    await desk.command(['hook', 'codex'], 'token=a-secret')
    expect(desk.noted()).toMatchObject([{ event: 'failed' }])
    expect(JSON.stringify(desk.noted())).not.toMatch(/token|secret/)
  })

  test('a folder that is not there is noted', async () => {
    const cwd = join(desk.top, 'never')
    await desk.hook('claude-code', 'prompt', { cwd })
    rmSync(desk.at('kept.txt'))
    expect(desk.noted()).toMatchObject([{ event: 'failed', code: 'USAGE' }])
  })
})
