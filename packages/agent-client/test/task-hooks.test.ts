import { afterEach, beforeEach, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'

let rig: TaskRig

beforeEach(() => {
  rig = new TaskRig('hooks')
  rig.initGit({ 'a.txt': 'a\n' })
})

afterEach(() => rig.dispose())

const TURNBACK = `'${process.execPath}' '${new URL('../src/main.ts', import.meta.url).pathname}'`

/** What Claude Code's hooks would call, with its own words. */
const hook = (event: string, more: object = {}) => {
  const payload = { session_id: 'c-1', prompt_id: 'p-1', cwd: rig.root, hook_event_name: event, ...more }
  return `echo '${JSON.stringify(payload)}' | ${TURNBACK} hook claude-code`
}

test('hooks of an agent that runs inside a task tell of the task’s turn, and end or open none', async () => {
  const write = { tool_name: 'Write', tool_input: { file_path: rig.at('new.txt') }, tool_use_id: 'u' }
  const line = [
    hook('UserPromptSubmit', { prompt: 'do it' }),
    hook('PreToolUse', write),
    'echo n > new.txt',
    hook('PostToolUse', write),
    hook('Stop', { last_assistant_message: 'done' }),
    'echo after >> a.txt',
    hook('SessionEnd', { reason: 'other' }),
  ].join(' && ')
  const { code, json } = await rig.task('t-1', line)
  expect(code).toBe(0)
  const { turns } = (await rig.here(['log', '--json'])).json
  expect(turns).toMatchObject([{ kind: 'task', session: 't-1', endReason: 'completed' }])
  const turn = (await rig.here(['show', json.attempts[0]?.turn ?? '', '--json'])).json
  expect(turn).toMatchObject({
    entries: [
      { path: 'a.txt', source: 'shell' },
      { path: 'new.txt', source: 'tool' },
    ],
  })
})

test('what a hook says after its task’s turn is over is nobody’s', async () => {
  const tool = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'u' }
  const { json } = await rig.task('t-1', 'true')
  const env = { TURNBACK_TASK: 't-1', TURNBACK_TURN: json.attempts[0]?.turn ?? '' }
  Object.assign(rig.env, env)
  expect(rig.run(['hook', 'claude-code'], { input: payloadOf('PreToolUse', tool) }).code).toBe(0)
  expect((await rig.here(['log', '--json'])).json.turns).toHaveLength(1)
})

function payloadOf(event: string, more: object): string {
  return JSON.stringify({
    session_id: 'c-1',
    prompt_id: 'p-1',
    cwd: rig.root,
    hook_event_name: event,
    ...more,
  })
}
