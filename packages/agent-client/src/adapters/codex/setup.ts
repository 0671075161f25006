import { join } from 'node:path'
import { hookLine } from '#setup/hook-line.ts'
import {
  type AgentSetup,
  type BlockEdit,
  type HookEntry,
  type SetupFacts,
  TIMEOUT_SECONDS,
} from '#setup/setup.ts'

const EVENTS = [
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'SubagentStart',
  'SubagentStop',
  'Stop',
  'Interrupt',
  'SessionEnd',
]

/** It waits for these no longer, and warns of a longer time (seen in 0.171.0). */
const LAST_EVENTS: ReadonlySet<string> = new Set(['Interrupt', 'SessionEnd'])
const LAST_SECONDS = 3

function hooks({ program }: SetupFacts): HookEntry[] {
  const command = hookLine(program, 'codex')
  return EVENTS.map((event) => {
    const timeout = LAST_EVENTS.has(event) ? LAST_SECONDS : TIMEOUT_SECONDS
    return { event, matcher: null, entry: { type: 'command', command, timeout } }
  })
}

function folder({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.codex')
  return env.CODEX_HOME || join(user, '.codex')
}

/** A basic string of TOML takes what one of JSON does. */
const quote = (text: string): string => JSON.stringify(text)

/** Says that a turn has ended, also while the hooks are not trusted. */
const notify = (program: string): BlockEdit => ({
  kind: 'block',
  name: 'notify',
  place: 'top',
  text: `notify = [${[program, 'hook', 'codex'].map(quote).join(', ')}]`,
  unless: ['notify'],
})

const server = (program: string): BlockEdit => ({
  kind: 'block',
  name: 'mcp',
  place: 'end',
  text: `[mcp_servers.turnback]\ncommand = ${quote(program)}\nargs = ["mcp"]`,
  unless: ['mcp_servers', 'turnback'],
})

export const setup: AgentSetup = {
  name: 'codex',
  title: 'Codex',
  programs: ['codex'],
  folder,
  files(facts) {
    const { level, program, mcp } = facts
    const at = folder(facts)
    const blocks = [...(level === 'project' ? [] : [notify(program)]), ...(mcp ? [server(program)] : [])]
    return [
      {
        file: join(at, 'hooks.json'),
        edits: [{ kind: 'hooks', agent: 'codex', shape: 'grouped', lineIn: 'command', hooks: hooks(facts) }],
      },
      ...(blocks.length === 0 ? [] : [{ file: join(at, 'config.toml'), edits: blocks }]),
    ]
  },
  notes: ({ level }) => [
    ...(level === 'project'
      ? ['Codex reads the hooks of a project only when it was told to trust the project.']
      : []),
  ],
}
