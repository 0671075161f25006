import { type Adapter, type AgentNews, makeNews, NOTHING_TOLD, type Reading } from '#adapters/adapter.ts'
import { asFields, type Fields, textIn, textsIn } from '#adapters/fields.ts'
import { pathsOfPatch } from '#adapters/patch-paths.ts'
import type { Environment } from '#config.ts'

/** Its events have two spellings: the payload follows that of the event in the settings. */
const EVENTS = new Map(
  Object.entries({
    UserPromptSubmit: 'userPromptSubmitted',
    PreToolUse: 'preToolUse',
    PostToolUse: 'postToolUse',
    PostToolUseFailure: 'postToolUseFailure',
    Stop: 'agentStop',
    SubagentStart: 'subagentStart',
    SubagentStop: 'subagentStop',
    SessionEnd: 'sessionEnd',
    SessionStart: 'sessionStart',
    ErrorOccurred: 'errorOccurred',
  }),
)
const NO_NEWS: ReadonlySet<string> = new Set([
  ...['sessionStart', 'errorOccurred', 'permissionRequest', 'preCompact', 'notification'],
  ...['userPromptTransformed', 'preMcpToolCall'],
])
const WRITERS: ReadonlySet<string> = new Set([
  ...['create', 'edit', 'str_replace_editor', 'str_replace', 'insert', 'apply_patch', 'write'],
])
const SHELLS: ReadonlySet<string> = new Set(['bash', 'powershell', 'write_bash', 'shell'])

/**
 * GitHub Copilot CLI (seen in 1.0.102). It has no name for a turn: the moment of its beginning is one. A payload in
 * camel case does not name its event, so the settings do.
 */
export const copilotCli: Adapter = {
  name: 'copilot-cli',
  pidVariable: null,
  read(payload, event, env) {
    const fields = asFields(payload)
    const session = textIn(fields, 'sessionId', 'session_id')
    const said = textIn(fields, 'hook_event_name') ?? event ?? guessEvent(fields)
    if (fields === null || session === null || said === null) return { news: [], unknown: 'payload' }
    return readEvent(fields, EVENTS.get(said) ?? said, session, findFolder(env))
  },
  // Of what this event's hooks print it takes nothing.
  answer: () => '',
}

/** By the fields that only one event has. */
function guessEvent(fields: Fields | null): string | null {
  if (fields === null) return null
  if ('toolResult' in fields) return 'postToolUse'
  if ('toolName' in fields) return 'preToolUse'
  if ('stopReason' in fields) return 'agentStop'
  return textIn(fields, 'prompt') === null ? null : 'userPromptSubmitted'
}

/** Where it keeps what is its own. */
function findFolder({ COPILOT_HOME, HOME }: Environment): string | null {
  if (COPILOT_HOME) return COPILOT_HOME
  return HOME === undefined ? null : `${HOME}/.copilot`
}

/** Only the end of a turn tells where it is; whether somebody broke it off is to be known before. */
function findTranscript(fields: Fields, session: string, folder: string | null): string | null {
  const told = textIn(fields, 'transcriptPath', 'transcript_path')
  if (told !== null || folder === null || !/^[\w-]+$/.test(session)) return told
  return `${folder}/session-state/${session}/events.jsonl`
}

function readEvent(fields: Fields, name: string, session: string, folder: string | null): Reading {
  const common = {
    cwd: textIn(fields, 'cwd', 'workingDirectory'),
    transcript: findTranscript(fields, session, folder),
  }
  const one = (type: AgentNews['type'], more: Partial<AgentNews> = {}) => ({
    news: [makeNews(type, session, { ...common, ...more })],
    unknown: null,
  })
  switch (name) {
    case 'userPromptSubmitted':
      return one('turn.start', { key: keyOf(fields), prompt: textIn(fields, 'prompt') })
    case 'preToolUse':
      return one('tool.before', toolOf(fields))
    case 'postToolUse':
    case 'postToolUseFailure':
      return one('tool.after', toolOf(fields))
    case 'agentStop':
      return one('turn.end')
    case 'sessionEnd': {
      const end = one('session.end')
      // A model that refuses is told in no other way than this.
      if (textIn(fields, 'reason') !== 'error') return end
      return { ...end, news: [...one('turn.end', { reason: 'failed' }).news, ...end.news] }
    }
    case 'subagentStart':
    case 'subagentStop':
      // They say nothing of the turn that they work for but that it is at work.
      return NOTHING_TOLD
    default:
      return NO_NEWS.has(name) ? NOTHING_TOLD : { news: [], unknown: `event ${name}` }
  }
}

function keyOf(fields: Fields): string | null {
  const { timestamp } = fields
  return typeof timestamp === 'number' || typeof timestamp === 'string' ? `at ${timestamp}` : null
}

function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'toolName', 'tool_name') ?? ''
  const raw = fields.toolArgs ?? fields.tool_input
  const input = asFields(typeof raw === 'string' ? parseArguments(raw) : raw)
  if (SHELLS.has(tool)) return { tool, command: textIn(input, 'command', 'input') ?? '', paths: [] }
  if (!WRITERS.has(tool) || textIn(input, 'command') === 'view') return { tool, command: null, paths: [] }
  const patch = typeof raw === 'string' ? raw : (textIn(input, 'patch', 'input') ?? '')
  return { tool, command: null, paths: [...textsIn(input, 'path', 'file_path'), ...pathsOfPatch(patch)] }
}

function parseArguments(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A patch, as it is.
    return null
  }
}
