import { type Adapter, type AgentNews, makeNews, NOTHING_TOLD, type Reading } from '#adapters/adapter.ts'
import { wholeList } from '#adapters/checklist.ts'
import { asFields, type Fields, fieldsIn, listIn, textIn, textsIn } from '#adapters/fields.ts'

const NO_NEWS: ReadonlySet<string> = new Set([
  ...['SessionStart', 'PreCompress', 'Notification', 'BeforeModel', 'AfterModel', 'BeforeToolSelection'],
])
const WRITERS: ReadonlySet<string> = new Set(['write_file', 'replace', 'edit'])
const SHELL = 'run_shell_command'

/**
 * Gemini CLI (seen in 0.61.0). It has no name for a turn, so the moment of its beginning is one; what comes after means
 * the turn that is open. When AfterAgent is refused by somebody's hook, the same turn goes on without a new beginning.
 */
export const geminiCli: Adapter = {
  name: 'gemini-cli',
  pidVariable: null,
  read(payload, event) {
    const fields = asFields(payload)
    const session = textIn(fields, 'session_id')
    const name = textIn(fields, 'hook_event_name') ?? event
    if (fields === null || session === null || name === null) return { news: [], unknown: 'payload' }
    return readEvent(fields, name, session)
  },
  // It reads what a hook prints as JSON.
  answer(context) {
    if (context === null) return '{}'
    return JSON.stringify({
      hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: context },
    })
  },
  refuse: (reason) => JSON.stringify({ decision: 'deny', reason }),
}

function readEvent(fields: Fields, name: string, session: string): Reading {
  const common = { cwd: textIn(fields, 'cwd'), transcript: textIn(fields, 'transcript_path') }
  const one = (type: AgentNews['type'], more: Partial<AgentNews> = {}) => ({
    news: [makeNews(type, session, { ...common, ...more })],
    unknown: null,
  })
  switch (name) {
    case 'BeforeAgent': {
      const at = textIn(fields, 'timestamp')
      return one('turn.start', { key: at === null ? null : `at ${at}`, prompt: textIn(fields, 'prompt') })
    }
    case 'BeforeTool':
      return one('tool.before', toolOf(fields))
    case 'AfterTool': {
      const after = one('tool.after', toolOf(fields))
      if (textIn(fields, 'tool_name') !== 'write_todos') return after
      const checklist = wholeList(listIn(fieldsIn(fields, 'tool_input'), 'todos'), 'description')
      return { ...after, news: [...after.news, ...one('checklist', { checklist }).news] }
    }
    case 'AfterAgent':
      return one('turn.end', { lastMessage: textIn(fields, 'prompt_response') })
    case 'SessionEnd':
      return one('session.end')
    default:
      return NO_NEWS.has(name) ? NOTHING_TOLD : { news: [], unknown: `event ${name}` }
  }
}

function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'tool_name') ?? ''
  const input = fieldsIn(fields, 'tool_input')
  if (tool === SHELL) return { tool, command: textIn(input, 'command') ?? '', paths: [] }
  return { tool, command: null, paths: WRITERS.has(tool) ? textsIn(input, 'file_path') : [] }
}
