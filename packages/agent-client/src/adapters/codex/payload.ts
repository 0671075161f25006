import { type Adapter, type AgentNews, makeNews, NOTHING_TOLD, type Reading } from '#adapters/adapter.ts'
import { wholeList } from '#adapters/checklist.ts'
import { asFields, type Fields, fieldsIn, listIn, textIn, textsIn } from '#adapters/fields.ts'
import { pathsOfPatch } from '#adapters/patch-paths.ts'

const NO_NEWS: ReadonlySet<string> = new Set([
  ...[
    'SessionStart',
    'PermissionRequest',
    'PreCompact',
    'PostCompact',
    'PreModelRequest',
    'PostModelRequest',
  ],
])
/** Tools that write the files which a patch names. */
const PATCHES: ReadonlySet<string> = new Set(['apply_patch', 'Edit', 'Write'])

/**
 * Codex (seen in 0.171.0). A turn is named by `turn_id`. What a sub-agent does is told with its own turn's, and with
 * `agent_id`. Its older `notify` gives one JSON text as the last argument and only says that a turn ended.
 */
export const codex: Adapter = {
  name: 'codex',
  pidVariable: null,
  read(payload, event) {
    const fields = asFields(payload)
    if (fields !== null && textIn(fields, 'type') === 'agent-turn-complete') return readNotice(fields)
    const session = textIn(fields, 'session_id')
    const name = textIn(fields, 'hook_event_name') ?? event
    if (fields === null || session === null || name === null) return { news: [], unknown: 'payload' }
    return readEvent(fields, name, session)
  },
  answer(context) {
    if (context === null) return ''
    const hookSpecificOutput = { hookEventName: 'UserPromptSubmit', additionalContext: context }
    return JSON.stringify({ hookSpecificOutput })
  },
  refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
}

function readNotice(fields: Fields): Reading {
  const session = textIn(fields, 'thread-id')
  if (session === null) return { news: [], unknown: 'notice' }
  const news = makeNews('turn.end', session, {
    key: textIn(fields, 'turn-id'),
    cwd: textIn(fields, 'cwd'),
    lastMessage: textIn(fields, 'last-assistant-message'),
  })
  return { news: [news], unknown: null }
}

function readEvent(fields: Fields, name: string, session: string): Reading {
  const agent = textIn(fields, 'agent_id')
  const common = {
    key: agent === null ? textIn(fields, 'turn_id') : null,
    cwd: textIn(fields, 'cwd'),
    model: textIn(fields, 'model'),
    transcript: textIn(fields, 'transcript_path'),
  }
  const one = (type: AgentNews['type'], more: Partial<AgentNews> = {}) => ({
    news: [
      agent === null
        ? makeNews(type, session, { ...common, ...more })
        : makeNews(type, agent, { ...common, parentSession: session, ...more }),
    ],
    unknown: null,
  })
  switch (name) {
    case 'UserPromptSubmit':
      return one('turn.start', { prompt: textIn(fields, 'prompt') })
    case 'PreToolUse':
      return one('tool.before', toolOf(fields))
    case 'PostToolUse': {
      const after = one('tool.after', toolOf(fields))
      const checklist = planOf(fields)
      if (checklist === null) return after
      return { ...after, news: [...after.news, ...one('checklist', { checklist }).news] }
    }
    case 'SubagentStart':
      return one('turn.start')
    case 'SubagentStop':
      return one('turn.end')
    case 'Stop':
      return one('turn.end', { lastMessage: textIn(fields, 'last_assistant_message') })
    case 'StopFailure':
      return one('turn.end', { reason: 'failed', lastMessage: textIn(fields, 'last_assistant_message') })
    case 'Interrupt':
      return one('turn.end', { reason: 'interrupted' })
    case 'SessionEnd':
      return one('session.end', { key: null })
    default:
      return NO_NEWS.has(name) ? NOTHING_TOLD : { news: [], unknown: `event ${name}` }
  }
}

function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'tool_name') ?? ''
  const input = fieldsIn(fields, 'tool_input')
  const text = textIn(input, 'command', 'input', 'patch') ?? textIn(fields, 'tool_input')
  if (PATCHES.has(tool))
    return { tool, command: null, paths: [...pathsOfPatch(text ?? ''), ...textsIn(input, 'file_path')] }
  if (tool !== 'Bash') return { tool, command: null, paths: [] }
  return { tool, command: text ?? '', paths: pathsOfPatch(text ?? '') }
}

function planOf(fields: Fields): AgentNews['checklist'] {
  if (textIn(fields, 'tool_name') !== 'update_plan') return null
  return wholeList(listIn(fieldsIn(fields, 'tool_input'), 'plan'), 'step')
}
