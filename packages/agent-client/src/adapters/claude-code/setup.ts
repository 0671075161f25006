import { join } from 'node:path'
import { hookLine } from '#setup/hook-line.ts'
import { type AgentSetup, type HookEntry, type SetupFacts, TIMEOUT_SECONDS } from '#setup/setup.ts'

/** None is asynchronous: a tool's end that came in after the turn's own would open the turn anew. */
const EVENTS = [
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionDenied',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'StopFailure',
  'SessionEnd',
]
/** For all tools: a shell writes too, and so may any tool of an MCP server. */
const OF_TOOLS = /ToolUse|PermissionDenied/

function hooks({ program }: SetupFacts): HookEntry[] {
  const entry = { type: 'command', command: hookLine(program, 'claude-code'), timeout: TIMEOUT_SECONDS }
  return EVENTS.map((event) => ({ event, matcher: OF_TOOLS.test(event) ? '*' : null, entry }))
}

function folder({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.claude')
  return env.CLAUDE_CONFIG_DIR || join(user, '.claude')
}

/** Not among its settings but in its state, or for a project in a file of its own. */
function mcpFile({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.mcp.json')
  return join(env.CLAUDE_CONFIG_DIR || user, '.claude.json')
}

export const setup: AgentSetup = {
  name: 'claude-code',
  title: 'Claude Code',
  programs: ['claude'],
  folder,
  files(facts) {
    const { program, mcp } = facts
    const server = { type: 'stdio', command: program, args: ['mcp'] }
    return [
      {
        file: join(folder(facts), 'settings.json'),
        edits: [
          { kind: 'hooks', agent: 'claude-code', shape: 'grouped', lineIn: 'command', hooks: hooks(facts) },
        ],
      },
      ...(mcp
        ? [
            {
              file: mcpFile(facts),
              edits: [{ kind: 'member' as const, path: ['mcpServers', 'turnback'], value: server }],
            },
          ]
        : []),
    ]
  },
  notes: () => ['Sessions that are open have read their hooks already: start Claude Code anew.'],
}
