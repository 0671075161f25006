/*
 * Our plugin of OpenCode. The functions below stand for themselves: `pluginText` writes their text into the file that
 * OpenCode loads, so they may name each other and what every JavaScript has, and nothing else. OpenCode waits for the
 * plugin at the beginning of a turn and before a tool; nothing that goes wrong in it reaches OpenCode.
 */

type Start = typeof import('node:child_process').spawn
type Fields = Record<string, unknown>

interface Part {
  readonly id?: string
  readonly type?: string
  text?: string
  readonly synthetic?: boolean
}

/** What the plugin knows of one session. */
interface Session {
  parent: string | null
  /** The person's message that its turn is named by. */
  message: string | null
  reason: 'completed' | 'failed' | 'interrupted'
  isOpen: boolean
  /** What was told last: news keeps its order. */
  last: Promise<string>
}

interface Plugin {
  readonly directory: string
  readonly sessions: Map<string, Session>
  tell(news: Fields): Promise<string>
  /** Of a session that was not heard of when it was made. */
  findParent(id: string): Promise<string | null>
}

function makePlugin(start: Start, program: string, place: unknown): Plugin {
  return {
    directory: textIn(place, 'directory') ?? process.cwd(),
    sessions: new Map(),
    tell: (news) => startHook(start, program, news),
    findParent: (id) => askForParent(place, id),
  }
}

async function askForParent(place: unknown, id: string): Promise<string | null> {
  const sessions = fieldOf(fieldOf(place, 'client'), 'session')
  const get = fieldOf(sessions, 'get')
  if (typeof get !== 'function') return null
  const late = new Promise((done) => {
    setTimeout(done, 1000)
  })
  const answer = Promise.resolve(Reflect.apply(get, sessions, [{ path: { id } }])).catch(() => null)
  return textIn(await Promise.race([answer, late]), 'data', 'parentID')
}

/** Starts the hook and gives what it printed. It goes on when OpenCode ends, and is waited for only so long. */
function startHook(start: Start, program: string, news: Fields): Promise<string> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(''), 12_000)
    const end = (text: string) => {
      clearTimeout(timer)
      done(text)
    }
    try {
      const child = start(program, ['hook', 'opencode'], {
        stdio: ['pipe', 'pipe', 'ignore'],
        detached: true,
      })
      let text = ''
      child.on('error', () => end(''))
      child.stdin.on('error', () => undefined)
      child.stdout.on('data', (piece: unknown) => {
        text += String(piece)
      })
      child.on('close', () => end(text))
      child.unref()
      child.stdin.end(JSON.stringify(news))
    } catch {
      end('')
    }
  })
}

function sessionOf({ sessions }: Plugin, id: string): Session {
  const known = sessions.get(id)
  if (known !== undefined) return known
  const made: Session = {
    parent: null,
    message: null,
    reason: 'completed',
    isOpen: false,
    last: Promise.resolve(''),
  }
  sessions.set(id, made)
  return made
}

/** The session whose turn it is: of a sub-agent's, the one above all. */
function rootOf(plugin: Plugin, id: string): string {
  let at = id
  for (let depth = 0; depth < 20; depth++) {
    const { parent } = sessionOf(plugin, at)
    if (parent === null) break
    at = parent
  }
  return at
}

function inTurn(plugin: Plugin, id: string, event: string, more: Fields): Promise<string> {
  const root = rootOf(plugin, id)
  const first = sessionOf(plugin, root)
  const about = {
    event,
    sessionID: id,
    parentID: root === id ? null : root,
    messageID: first.message,
    directory: plugin.directory,
  }
  const told = first.last.then(() => plugin.tell({ ...about, ...more }))
  first.last = told
  return told
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textIn(value: unknown, ...names: readonly string[]): string | null {
  let at = value
  for (const name of names) at = fieldOf(at, name)
  return typeof at === 'string' ? at : null
}

function textOf(parts: readonly Part[]): string {
  return parts
    .filter(({ type, synthetic }) => type === 'text' && synthetic !== true)
    .map(({ text }) => text ?? '')
    .join('\n')
}

function modelOf(model: unknown): string | null {
  const provider = textIn(model, 'providerID')
  const name = textIn(model, 'modelID') ?? textIn(model, 'id')
  return name === null || provider === null ? name : `${provider}/${name}`
}

function saidIn(printed: string, name: string): string | null {
  return printed.trim() === '' ? null : textIn(JSON.parse(printed), name)
}

/** The prompt was a command to Turnback: the model gets its report in that place, to pass it on. */
function putReport(parts: Part[], report: string) {
  const said = `Turnback did what the person asked, and reports:\n\n${report}\n\nTell the person this report, word for word. Use no tool.`
  for (const part of parts) if (part.type === 'text' && part.synthetic !== true) part.text = said
}

async function onMessage(plugin: Plugin, input: unknown, output: { message?: unknown; parts?: Part[] }) {
  const id = textIn(input, 'sessionID')
  if (id === null) return
  const parts = output.parts ?? []
  const messageID = textIn(output.message, 'id') ?? textIn(input, 'messageID')
  const isNew = !plugin.sessions.has(id)
  const session = sessionOf(plugin, id)
  if (isNew) session.parent = await plugin.findParent(id)
  session.message = messageID
  session.reason = 'completed'
  session.isOpen = true
  const model = modelOf(fieldOf(input, 'model')) ?? modelOf(fieldOf(output.message, 'model'))
  const printed = await inTurn(plugin, id, 'turn.start', { prompt: textOf(parts), model })
  const report = saidIn(printed, 'report')
  if (report !== null) {
    session.isOpen = false
    putReport(parts, report)
    return
  }
  const context = saidIn(printed, 'context')
  const before = parts.at(-1)?.id
  if (context === null || before === undefined) return
  // Parts are in the order of their names: this one is to be the last.
  const part = { id: `${before}t`, sessionID: id, messageID, type: 'text', text: context, synthetic: true }
  parts.push(part)
}

async function onTool(plugin: Plugin, event: string, input: unknown, args: unknown) {
  const id = textIn(input, 'sessionID')
  if (id === null) return
  sessionOf(plugin, id).isOpen = true
  const tool = fieldOf(input, 'tool')
  const told = inTurn(plugin, id, event, { tool, args, callID: fieldOf(input, 'callID') })
  if (event === 'tool.before') await told
}

async function onEvent(plugin: Plugin, type: unknown, properties: unknown) {
  const id = textIn(properties, 'sessionID') ?? textIn(properties, 'info', 'id')
  if (id === null) return
  const session = sessionOf(plugin, id)
  if (type === 'session.created' || type === 'session.updated')
    session.parent = textIn(properties, 'info', 'parentID')
  else if (type === 'session.error')
    session.reason = textIn(properties, 'error', 'name') === 'MessageAbortedError' ? 'interrupted' : 'failed'
  else if (type === 'session.idle' && session.isOpen) {
    session.isOpen = false
    await inTurn(plugin, id, 'turn.end', { reason: session.reason })
  } else if (type === 'session.deleted') {
    await inTurn(plugin, id, 'session.end', {})
    plugin.sessions.delete(id)
  } else if (type === 'todo.updated')
    await inTurn(plugin, id, 'checklist', { todos: fieldOf(properties, 'todos') })
}

/** OpenCode ends: what was told goes out first, and who has not ended by now never will. */
async function onDispose(plugin: Plugin) {
  for (const [id, session] of plugin.sessions) {
    if (session.parent === null && session.isOpen) void inTurn(plugin, id, 'session.end', {})
    session.isOpen = false
  }
  await Promise.all([...plugin.sessions.values()].map(({ last }) => last))
}

async function quietly(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch {
    // OpenCode goes on as if nobody listened.
  }
}

/** What OpenCode 1 calls. */
async function serve(start: Start, program: string, place: unknown) {
  const plugin = makePlugin(start, program, place)
  return {
    'chat.message': (input: unknown, output: { message?: unknown; parts?: Part[] }) =>
      quietly(() => onMessage(plugin, input, output)),
    'tool.execute.before': (input: unknown, output: unknown) =>
      quietly(() => onTool(plugin, 'tool.before', input, fieldOf(output, 'args'))),
    'tool.execute.after': (input: unknown) =>
      quietly(() => onTool(plugin, 'tool.after', input, fieldOf(input, 'args'))),
    event: (input: unknown) => {
      const event = fieldOf(input, 'event')
      return quietly(() => onEvent(plugin, fieldOf(event, 'type'), fieldOf(event, 'properties')))
    },
    dispose: () => quietly(() => onDispose(plugin)),
  }
}

/** What OpenCode 2 calls. Untried: by its documents alone. */
async function setUp(start: Start, program: string, setting: unknown) {
  const plugin = makePlugin(start, program, setting)
  const listen = (area: string, method: string, ...words: readonly unknown[]) => {
    const at = fieldOf(setting, area)
    const call = fieldOf(at, method)
    if (typeof call === 'function') Reflect.apply(call, at, words)
  }
  await quietly(async () => {
    listen('session', 'hook', 'message', (input: unknown, output: { message?: unknown; parts?: Part[] }) =>
      quietly(() => onMessage(plugin, input, output)),
    )
    listen('tool', 'hook', 'execute.before', (input: unknown, output: unknown) =>
      quietly(() => onTool(plugin, 'tool.before', input, fieldOf(output, 'args') ?? fieldOf(input, 'args'))),
    )
    listen('tool', 'hook', 'execute.after', (input: unknown) =>
      quietly(() => onTool(plugin, 'tool.after', input, fieldOf(input, 'args'))),
    )
    listen('event', 'subscribe', (event: unknown) =>
      quietly(() =>
        onEvent(plugin, fieldOf(event, 'type'), fieldOf(event, 'properties') ?? fieldOf(event, 'data')),
      ),
    )
  })
}

const FUNCTIONS = [
  ...[
    makePlugin,
    askForParent,
    startHook,
    sessionOf,
    rootOf,
    inTurn,
    fieldOf,
    textIn,
    textOf,
    modelOf,
    saidIn,
    putReport,
  ],
  ...[onMessage, onTool, onEvent, onDispose, quietly, serve, setUp],
]

/**
 * The text of the plugin's file.
 * @param program absolute path of the command line
 */
export function pluginText(program: string): string {
  return `// Written by Turnback, which it tells of turns and tools. \`turnback uninstall opencode\` removes it.
import { spawn } from 'node:child_process'

${FUNCTIONS.map((each) => each.toString()).join('\n\n')}

const program = ${JSON.stringify(program)}
export default {
  id: 'turnback',
  server: (place) => ${serve.name}(spawn, program, place),
  setup: (setting) => ${setUp.name}(spawn, program, setting),
}
`
}
