import { type Adapter, type AgentNews, makeNews, NOTHING_TOLD, type Reading } from '#adapters/adapter.ts'
import { toItem, wholeList } from '#adapters/checklist.ts'
import { asFields, type Fields, fieldsIn, listIn, textIn, textsIn } from '#adapters/fields.ts'
import type { Checklist } from '#agent-ports.ts'

/** Tools that write one file, and the field that names it. */
const WRITERS = new Map(
  Object.entries({
    Write: 'file_path',
    Edit: 'file_path',
    MultiEdit: 'file_path',
    NotebookEdit: 'notebook_path',
  }),
)
const SHELLS: ReadonlySet<string> = new Set(['Bash', 'PowerShell'])
/** What a tool of an MCP server is called when it writes the files that it names. */
const WRITES = /(?:^|_)(?:write|edit|create|move|rename|delete|remove|append|replace|insert|patch)/i

/** Tells of the session, and of no turn. */
const NO_NEWS: ReadonlySet<string> = new Set([
  ...['SessionStart', 'Setup', 'Notification', 'PreCompact', 'PostCompact', 'PostToolBatch', 'CwdChanged'],
  ...[
    'FileChanged',
    'InstructionsLoaded',
    'ConfigChange',
    'PermissionRequest',
    'TaskCreated',
    'TaskCompleted',
  ],
  ...['DirectoryAdded', 'MessageDisplay', 'WorktreeCreate', 'WorktreeRemove', 'TeammateIdle'],
])

/**
 * Claude Code (seen in 2.1.332). A turn is named by `prompt_id`: a prompt that is queued while a turn runs is told with
 * that turn's, and its own turn later has another one and no UserPromptSubmit. What a sub-agent's tools do has the
 * session and the `prompt_id` of the turn that it works for.
 */
export const claudeCode: Adapter = {
  name: 'claude-code',
  pidVariable: 'CLAUDE_PID',
  read(payload, event, env) {
    const fields = asFields(payload)
    const session = textIn(fields, 'session_id')
    const name = textIn(fields, 'hook_event_name') ?? event
    if (fields === null || session === null || name === null) return { news: [], unknown: 'payload' }
    return readEvent(fields, name, session, {
      key: textIn(fields, 'prompt_id'),
      cwd: textIn(fields, 'cwd'),
      project: env.CLAUDE_PROJECT_DIR ?? null,
      transcript: textIn(fields, 'transcript_path'),
    })
  },
  answer(context) {
    if (context === null) return ''
    const hookSpecificOutput = { hookEventName: 'UserPromptSubmit', additionalContext: context }
    return JSON.stringify({ hookSpecificOutput })
  },
  refuse: (reason) => JSON.stringify({ decision: 'block', reason }),
}

type Common = Pick<AgentNews, 'key' | 'cwd' | 'project' | 'transcript'>

function readEvent(fields: Fields, name: string, session: string, common: Common): Reading {
  const one = (type: AgentNews['type'], more: Partial<AgentNews> = {}) => ({
    news: [makeNews(type, session, { ...common, ...more })],
    unknown: null,
  })
  switch (name) {
    case 'UserPromptSubmit':
      return one('turn.start', { prompt: textIn(fields, 'prompt') })
    case 'PreToolUse':
      return one('tool.before', toolOf(fields))
    case 'PostToolUse':
      return withChecklist(fields, one('tool.after', toolOf(fields)), common, session)
    case 'PermissionDenied':
      return one('tool.after', toolOf(fields))
    case 'PostToolUseFailure': {
      const after = one('tool.after', toolOf(fields))
      // A sub-agent that is stopped leaves the turn at work.
      if (fields.is_interrupt !== true || textIn(fields, 'agent_id') !== null) return after
      return { ...after, news: [...after.news, ...one('turn.end', { reason: 'interrupted' }).news] }
    }
    case 'Stop':
      return one('turn.end', { lastMessage: textIn(fields, 'last_assistant_message') })
    case 'StopFailure':
      return one('turn.end', {
        reason: 'failed',
        lastMessage: textIn(fields, 'last_assistant_message', 'error_details'),
      })
    case 'SubagentStart':
    case 'SubagentStop':
      return {
        news: [
          makeNews(
            name === 'SubagentStart' ? 'turn.start' : 'turn.end',
            textIn(fields, 'agent_id') ?? session,
            {
              ...common,
              parentSession: session,
            },
          ),
        ],
        unknown: null,
      }
    case 'SessionEnd':
      return one('session.end', { key: null })
    default:
      return NO_NEWS.has(name) ? NOTHING_TOLD : { news: [], unknown: `event ${name}` }
  }
}

/** What a tool is, and what it writes. */
function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'tool_name') ?? ''
  const input = fieldsIn(fields, 'tool_input')
  const path = WRITERS.get(tool)
  if (path !== undefined) return { tool, command: null, paths: textsIn(input, path) }
  if (SHELLS.has(tool)) return { tool, command: textIn(input, 'command') ?? '', paths: [] }
  if (tool.startsWith('mcp__') && WRITES.test(tool.split('__').at(-1) ?? ''))
    return { tool, command: null, paths: textsIn(input, 'path', 'file_path', 'source', 'destination') }
  return { tool, command: null, paths: [] }
}

function withChecklist(fields: Fields, reading: Reading, common: Common, session: string): Reading {
  const checklist = checklistOf(fields)
  if (checklist === null) return reading
  return { ...reading, news: [...reading.news, makeNews('checklist', session, { ...common, checklist })] }
}

function checklistOf(fields: Fields): Checklist | null {
  const input = fieldsIn(fields, 'tool_input')
  switch (textIn(fields, 'tool_name')) {
    case 'TodoWrite':
      return wholeList(listIn(input, 'todos'), 'content')
    case 'TaskCreate': {
      // Its number is only in the answer.
      const task = fieldsIn(fieldsIn(fields, 'tool_response'), 'task')
      const item = toItem({ ...input, id: textIn(task, 'id'), status: 'pending' }, ['subject'])
      return item === null ? null : { isWhole: false, items: [item] }
    }
    case 'TaskUpdate': {
      const item = toItem(input, ['subject'])
      return item === null ? null : { isWhole: false, items: [item] }
    }
    default:
      return null
  }
}
