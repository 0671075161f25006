import { type Adapter, type AgentNews, makeNews, NOTHING_TOLD, type Reading } from '#adapters/adapter.ts'
import { asFields, type Fields, fieldsIn, listIn, textIn, textsIn } from '#adapters/fields.ts'

const NO_NEWS: ReadonlySet<string> = new Set([
  ...['sessionStart', 'beforeReadFile', 'afterAgentResponse', 'afterAgentThought', 'preCompact'],
  ...['beforeTabFileRead', 'workspaceOpen'],
])
const WRITERS: ReadonlySet<string> = new Set(['Write', 'Edit', 'Delete', 'MultiEdit', 'StrReplace'])
const SHELL = 'Shell'
/** How `stop` says that a turn ended. */
const REASONS = new Map<string, AgentNews['reason']>(
  Object.entries({
    completed: 'completed',
    aborted: 'interrupted',
    error: 'failed',
  } as const),
)

/**
 * Cursor. Untried: there is no program of it to run here; by its documents of version 3.7. A turn is named by
 * `generation_id`. In `-p` it tells neither a beginning nor an end, so a turn is opened by its first tool and closed by
 * the end of the session or of the process.
 */
export const cursor: Adapter = {
  name: 'cursor',
  pidVariable: null,
  read(payload, event) {
    const fields = asFields(payload)
    const session = textIn(fields, 'conversation_id', 'session_id')
    const name = textIn(fields, 'hook_event_name') ?? event
    if (fields === null || session === null || name === null) return { news: [], unknown: 'payload' }
    return readEvent(fields, name, session)
  },
  // It reads what a hook prints as JSON.
  answer: () => '{}',
  refuse: (report) => JSON.stringify({ continue: false, user_message: report }),
}

function readEvent(fields: Fields, name: string, session: string): Reading {
  const root = listIn(fields, 'workspace_roots').find((each) => typeof each === 'string')
  const project = typeof root === 'string' ? root : null
  const common = {
    key: textIn(fields, 'generation_id'),
    cwd: textIn(fields, 'cwd') ?? project,
    project,
    model: textIn(fields, 'model'),
    version: textIn(fields, 'cursor_version'),
    transcript: textIn(fields, 'transcript_path'),
  }
  const one = (type: AgentNews['type'], more: Partial<AgentNews> = {}) => ({
    news: [makeNews(type, session, { ...common, ...more })],
    unknown: null,
  })
  switch (name) {
    case 'beforeSubmitPrompt':
      return one('turn.start', { prompt: textIn(fields, 'prompt') })
    case 'preToolUse':
      return one('tool.before', toolOf(fields))
    case 'postToolUse':
    case 'postToolUseFailure':
      return one('tool.after', toolOf(fields))
    case 'beforeShellExecution':
      return one('tool.before', { tool: SHELL, command: textIn(fields, 'command') ?? '' })
    case 'afterShellExecution':
      return one('tool.after', { tool: SHELL, command: textIn(fields, 'command') ?? '' })
    case 'afterFileEdit':
    case 'afterTabFileEdit':
      return one('tool.after', { tool: 'Edit', paths: textsIn(fields, 'file_path') })
    case 'stop':
      return one('turn.end', { reason: REASONS.get(textIn(fields, 'status') ?? '') ?? 'completed' })
    case 'sessionEnd':
      return one('session.end', { key: null })
    case 'subagentStart':
      return one('turn.start', { parentSession: session })
    case 'subagentStop':
      return one('tool.after', { tool: 'subagent', paths: textListIn(fields, 'modified_files') })
    default:
      return NO_NEWS.has(name) ? NOTHING_TOLD : { news: [], unknown: `event ${name}` }
  }
}

function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'tool_name') ?? ''
  const input = fieldsIn(fields, 'tool_input')
  if (tool === SHELL) return { tool, command: textIn(input, 'command') ?? '', paths: [] }
  return { tool, command: null, paths: WRITERS.has(tool) ? textsIn(input, 'file_path', 'path') : [] }
}

function textListIn(fields: Fields, name: string): string[] {
  return listIn(fields, name).filter((each): each is string => typeof each === 'string')
}
