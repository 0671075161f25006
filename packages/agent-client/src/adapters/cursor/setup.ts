import { join } from 'node:path'
import { hookLine } from '#setup/hook-line.ts'
import type { AgentSetup, HookEntry, SetupFacts } from '#setup/setup.ts'

/** By its documents; not tried here. */
const EVENTS = [
  'beforeSubmitPrompt',
  'preToolUse',
  'postToolUse',
  'postToolUseFailure',
  'beforeShellExecution',
  'afterShellExecution',
  'afterFileEdit',
  'subagentStart',
  'subagentStop',
  'stop',
  'sessionEnd',
]

/** Without a time limit: documents differ on whether it is in seconds, and the program has one of its own. */
function hooks({ program }: SetupFacts): HookEntry[] {
  return EVENTS.map((event) => ({
    event,
    matcher: null,
    entry: { command: hookLine(program, 'cursor', event) },
  }))
}

function folder({ user, level, project }: SetupFacts): string {
  return join(level === 'project' && project !== null ? project : user, '.cursor')
}

export const setup: AgentSetup = {
  name: 'cursor',
  title: 'Cursor',
  programs: ['cursor-agent', 'cursor'],
  folder,
  files(facts) {
    const { program, mcp } = facts
    const at = folder(facts)
    const server = { command: program, args: ['mcp'] }
    return [
      {
        file: join(at, 'hooks.json'),
        edits: [
          { kind: 'default', path: ['version'], value: 1 },
          { kind: 'hooks', agent: 'cursor', shape: 'flat', lineIn: 'command', hooks: hooks(facts) },
        ],
      },
      ...(mcp
        ? [
            {
              file: join(at, 'mcp.json'),
              edits: [{ kind: 'member' as const, path: ['mcpServers', 'turnback'], value: server }],
            },
          ]
        : []),
    ]
  },
  notes: () => [
    'This follows Cursor’s documents and was not tried with the program. `cursor-agent -p` calls no hook when a turn begins or ends.',
  ],
}
