import { join } from 'node:path'
import { harmless, hookLine } from '#setup/hook-line.ts'
import { type AgentSetup, type HookEntry, type SetupFacts, TIMEOUT_SECONDS } from '#setup/setup.ts'

const EVENTS = [
  'userPromptSubmitted',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'subagentStart',
  'subagentStop',
  'agentStop',
  'sessionEnd',
]

/** It refuses a tool whose hook fails (seen in 1.0.102). */
function hooks({ program }: SetupFacts): HookEntry[] {
  return EVENTS.map((event) => ({
    event,
    matcher: null,
    entry: {
      type: 'command',
      bash: harmless(hookLine(program, 'copilot-cli', event)),
      timeoutSec: TIMEOUT_SECONDS,
    },
  }))
}

function folder({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.github')
  return env.COPILOT_HOME || join(user, '.copilot')
}

export const setup: AgentSetup = {
  name: 'copilot-cli',
  title: 'GitHub Copilot CLI',
  programs: ['copilot'],
  folder,
  files(facts) {
    const { level, program, mcp } = facts
    const at = folder(facts)
    const server = { type: 'local', command: program, args: ['mcp'], tools: ['*'] }
    return [
      {
        file: join(at, 'hooks/turnback.json'),
        edits: [
          { kind: 'default', path: ['version'], value: 1 },
          { kind: 'hooks', agent: 'copilot-cli', shape: 'flat', lineIn: 'bash', hooks: hooks(facts) },
        ],
      },
      ...(mcp && level === 'user'
        ? [
            {
              file: join(at, 'mcp-config.json'),
              edits: [{ kind: 'member' as const, path: ['mcpServers', 'turnback'], value: server }],
            },
          ]
        : []),
    ]
  },
  notes: ({ level }) =>
    level === 'project'
      ? ['Copilot CLI runs the hooks of a repository only in folders that it was told to trust.']
      : [],
}
