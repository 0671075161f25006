import { join } from 'node:path'
import { hookLine } from '#setup/hook-line.ts'
import type { AgentSetup, HookEntry, SetupFacts } from '#setup/setup.ts'

/** Long enough for a begin, which waits for ten seconds at most; a hook that hangs never holds the agent longer. */
const TIMEOUT_SECONDS = 15

/**
 * None is asynchronous: a tool's end that came in after the turn's own would open the turn anew. Those before and after
 * tools are for all tools, because shells write too.
 */
const EVENTS = [
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'SessionEnd',
]
const OF_TOOLS = /ToolUse/

function hooks({ program }: SetupFacts): HookEntry[] {
  const entry = { type: 'command', command: hookLine(program, 'claude-code'), timeout: TIMEOUT_SECONDS }
  return EVENTS.map((event) => ({ event, matcher: OF_TOOLS.test(event) ? '*' : null, entry }))
}

function folder({ env, user }: SetupFacts): string {
  return env.CLAUDE_CONFIG_DIR || join(user, '.claude')
}

export const setup: AgentSetup = {
  name: 'claude-code',
  title: 'Claude Code',
  programs: ['claude'],
  folder,
  files(facts) {
    const { level, project } = facts
    const at = level === 'project' && project !== null ? join(project, '.claude') : folder(facts)
    return [
      {
        file: join(at, 'settings.json'),
        edits: [
          { kind: 'hooks', agent: 'claude-code', shape: 'grouped', lineIn: 'command', hooks: hooks(facts) },
        ],
      },
    ]
  },
  notes: () => ['Sessions that are open read their hooks when they start: start Claude Code anew.'],
}
