import { type Adapter, type AgentNews, makeNews, type NewsType } from '#adapters/adapter.ts'
import { wholeList } from '#adapters/checklist.ts'
import { asFields, type Fields, fieldsIn, listIn, textIn, textsIn } from '#adapters/fields.ts'
import { pathsOfPatch } from '#adapters/patch-paths.ts'

const TYPES: readonly NewsType[] = [
  ...(['turn.start', 'tool.before', 'tool.after', 'turn.end', 'session.end', 'checklist'] as const),
]
const WRITERS: ReadonlySet<string> = new Set(['write', 'edit', 'multiedit'])
const PATCHES: ReadonlySet<string> = new Set(['patch', 'apply_patch'])

/**
 * OpenCode (seen in 1.18.33): what our own plugin of it says, so in our words already. A turn is named by the message of
 * the person's. A sub-agent's session names its parent.
 */
export const opencode: Adapter = {
  name: 'opencode',
  pidVariable: null,
  read(payload) {
    const fields = asFields(payload)
    const session = textIn(fields, 'sessionID')
    const said = textIn(fields, 'event')
    const type = TYPES.find((each) => each === said)
    if (fields === null || session === null) return { news: [], unknown: 'payload' }
    if (type === undefined) return { news: [], unknown: `event ${said}` }
    const parentSession = textIn(fields, 'parentID')
    const news = makeNews(type, session, {
      parentSession,
      key: parentSession === null && type !== 'session.end' ? textIn(fields, 'messageID') : null,
      cwd: textIn(fields, 'directory'),
      prompt: textIn(fields, 'prompt'),
      model: textIn(fields, 'model'),
      version: textIn(fields, 'version'),
      lastMessage: textIn(fields, 'lastMessage'),
      reason: reasonOf(fields),
      checklist: type === 'checklist' ? wholeList(listIn(fields, 'todos'), 'content') : null,
      ...toolOf(fields),
    })
    return { news: [news], unknown: null }
  },
  // The plugin makes it a part of the person's message.
  answer: (context) => (context === null ? '' : JSON.stringify({ context })),
  // A prompt can not be kept from the model: the plugin puts the report in its place.
  refuse: (report) => JSON.stringify({ report }),
}

function reasonOf(fields: Fields): AgentNews['reason'] {
  const reason = textIn(fields, 'reason')
  return reason === 'failed' || reason === 'interrupted' ? reason : 'completed'
}

function toolOf(fields: Fields): Pick<AgentNews, 'tool' | 'command' | 'paths'> {
  const tool = textIn(fields, 'tool')
  const args = fieldsIn(fields, 'args')
  if (tool === null) return { tool, command: null, paths: [] }
  if (tool === 'bash') return { tool, command: textIn(args, 'command') ?? '', paths: [] }
  if (WRITERS.has(tool)) return { tool, command: null, paths: textsIn(args, 'filePath') }
  const paths = PATCHES.has(tool) ? pathsOfPatch(textIn(args, 'patchText', 'patch', 'input') ?? '') : []
  return { tool, command: null, paths }
}
