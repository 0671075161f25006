import { join } from 'node:path'
import { harmless, hookLine } from '#setup/hook-line.ts'
import { type AgentSetup, type Edit, type HookEntry, type SetupFacts, TIMEOUT_SECONDS } from '#setup/setup.ts'

const EVENTS = ['BeforeAgent', 'BeforeTool', 'AfterTool', 'AfterAgent', 'SessionEnd']

/** It refuses a prompt whose hook cannot be started (seen in 0.61.0). */
function hooks({ program }: SetupFacts): HookEntry[] {
  const entry = {
    ...{ type: 'command', name: 'turnback', command: harmless(hookLine(program, 'gemini-cli')) },
    // Milliseconds here.
    timeout: TIMEOUT_SECONDS * 1000,
  }
  return EVENTS.map((event) => ({ event, matcher: null, entry }))
}

function folder({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.gemini')
  return join(env.GEMINI_CLI_HOME || user, '.gemini')
}

export const setup: AgentSetup = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  programs: ['gemini'],
  folder,
  files(facts) {
    const { program, mcp } = facts
    const server: Edit = {
      kind: 'member',
      path: ['mcpServers', 'turnback'],
      value: { command: program, args: ['mcp'] },
    }
    return [
      {
        file: join(folder(facts), 'settings.json'),
        edits: [
          { kind: 'hooks', agent: 'gemini-cli', shape: 'grouped', lineIn: 'command', hooks: hooks(facts) },
          ...(mcp ? [server] : []),
        ],
      },
    ]
  },
  notes: () => [
    'Gemini CLI runs hooks, yours too, only in folders that it was told to trust: it asks when it starts in one, and /permissions shows it.',
  ],
}
