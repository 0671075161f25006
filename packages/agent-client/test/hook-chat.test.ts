import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { TURNBACK } from './support/command-line.ts'

let rig: CaptureRig
let isConnected = false
beforeEach(async () => {
  rig = new CaptureRig('chat')
  rig.write('a.txt', 'zero\n')
  await rig.init()
})
afterEach(() => {
  if (isConnected) rig.run(['disconnect'])
  isConnected = false
  rig.dispose()
})

/** Calls the hook as an agent does. @returns what it printed */
async function hook(agent: string, payload: object, env: Record<string, string> = {}): Promise<string> {
  const child = spawn(TURNBACK, ['hook', agent], {
    cwd: rig.root,
    env: { ...rig.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stdin.end(JSON.stringify(payload))
  expect(await once(child, 'close')).toEqual([0, null])
  return out
}

let prompts = 0
const claude = (event: string, more: object = {}, session = 'A') => ({
  session_id: session,
  prompt_id: `p${prompts}`,
  cwd: rig.root,
  hook_event_name: event,
  ...more,
})

/** A whole turn of Claude Code. */
async function turn(work: () => void, session = 'A'): Promise<void> {
  prompts++
  await hook('claude-code', claude('UserPromptSubmit', { prompt: 'work' }, session))
  work()
  await hook('claude-code', claude('Stop', {}, session))
}

function say(prompt: string, more: object = {}): Promise<string> {
  prompts++
  return hook('claude-code', claude('UserPromptSubmit', { prompt, ...more }))
}

const read = (name: string): string => readFileSync(rig.at(name), 'utf8')
const kinds = () => rig.deps.log.listTurns(rig.workspace.id).map(({ kind }) => kind)

test('the person takes this chat’s last turn back, and no model is asked', async () => {
  await turn(() => rig.write('a.txt', 'one\n'))
  await turn(() => rig.write('b.txt', 'other\n'), 'B')
  const { decision, reason } = JSON.parse(await say('/turnback'))
  expect(decision).toBe('block')
  expect(reason).toMatch(/^restored\s+a\.txt$/m)
  expect(reason).toMatch(/^Done: @1 undone/m)
  expect([read('a.txt'), read('b.txt')]).toEqual(['zero\n', 'other\n'])
  expect(kinds(), 'the command is no turn').toEqual(['agent', 'agent', 'restore'])
  const next = JSON.parse(await say('go on'))
  expect(next.hookSpecificOutput.additionalContext).toContain('- a.txt')
}, 60_000)

test('a turn by its number, in other agents’ words; what stands behind it is data', async () => {
  await turn(() => rig.write('a.txt', 'one\n'))
  await turn(() => rig.write('a.txt', 'two\n'))
  const gemini = (prompt: string) =>
    hook('gemini-cli', {
      session_id: 'A',
      cwd: rig.root,
      hook_event_name: 'BeforeAgent',
      timestamp: '1',
      prompt,
    })
  const refused = JSON.parse(await gemini('turnback rewind 1 --path "a.txt;touch ran"'))
  expect(refused).toMatchObject({ decision: 'deny', reason: expect.stringMatching(/none of the turns/) })
  expect(JSON.parse(await gemini('turnback rewind 1\n')).reason).toMatch(/Done: @1 and @2 undone/)
  expect(JSON.parse(await gemini('/turnback 1; touch ran')).reason).toMatch(
    /^Not understood, and nothing was done/,
  )
  expect([read('a.txt'), existsSync(rig.at('ran'))]).toEqual(['zero\n', false])
  const opencode = {
    event: 'turn.start',
    sessionID: 'A',
    directory: rig.root,
    messageID: 'm',
    prompt: '/rewind redo',
  }
  expect(JSON.parse(await hook('opencode', opencode)).report).toMatch(/Done/)
  expect(read('a.txt')).toBe('two\n')
}, 60_000)

test('only the person’s own words: what a model has arranged, and a sub-agent’s prompt, are prompts', async () => {
  await turn(() => rig.write('a.txt', 'one\n'))
  expect(await say('/turnback', { source: 'schedule_wakeup' })).toBe('')
  const child = { event: 'turn.start', sessionID: 'C', parentID: 'A', directory: rig.root, prompt: '/rewind' }
  expect(await hook('opencode', child)).toBe('')
  expect(read('a.txt')).toBe('one\n')
}, 60_000)

test('hooks of an agent that is recorded by who started it keep silent', async () => {
  prompts++
  const env = { TURNBACK_RECORDED: 'acp' }
  expect(await hook('claude-code', claude('UserPromptSubmit', { prompt: 'work' }), env)).toBe('')
  expect(
    await hook('gemini-cli', { session_id: 'A', hook_event_name: 'BeforeAgent', prompt: 'x' }, env),
  ).toBe('{}')
  expect(kinds()).toEqual([])
}, 60_000)

test('the same with the resident client, also from inside a turn that goes on', async () => {
  // In the background it is no process of this one's, as it is none of an agent's.
  expect(rig.run(['connect', '--json']).code).toBe(0)
  isConnected = true
  prompts++
  await hook('claude-code', claude('UserPromptSubmit', { prompt: 'work' }), {
    CLAUDE_PID: String(process.pid),
  })
  await hook('claude-code', claude('PreToolUse', { tool_name: 'Bash', tool_input: { command: 'make' } }))
  rig.write('a.txt', 'one\n')
  // This process stands for the agent: the queued prompt is told with the running turn's name.
  const said = await hook('claude-code', claude('UserPromptSubmit', { prompt: '/turnback' }))
  expect(JSON.parse(said).reason).toMatch(/Done: @1 undone/)
  expect(read('a.txt')).toBe('zero\n')
  await hook('claude-code', claude('PostToolUse', { tool_name: 'Bash', tool_input: { command: 'make' } }))
  rig.write('a.txt', 'again\n')
  await hook('claude-code', claude('Stop'))
  expect(kinds()).toEqual(['agent', 'restore', 'agent'])
}, 60_000)
