import type { Update } from './message.ts'

/** News of one tool, as `turnback event` takes it. */
export interface ToolNews {
  readonly type: 'tool.before' | 'tool.after'
  readonly tool: string
  readonly command: string | null
  /** Files that it writes, absolute. */
  readonly paths: readonly string[]
}

/** Kinds of tools that change files; others may, and say so by a diff. */
const WRITING: ReadonlySet<string> = new Set(['edit', 'delete', 'move', 'execute'])
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])
/** An agent that never ends its calls is not remembered without end. */
const KEPT = 1000

interface Call {
  kind: string
  status: string
  title: string | null
  name: string | null
  command: string | null
  locations: readonly string[]
  diffs: readonly string[]
  hasBegun: boolean
}

/** A session's tool calls and terminals, put together from what is told of them bit by bit. */
export class ToolCalls {
  readonly #calls = new Map<string, Call>()

  /** What a `session/update` tells of a tool that changes files. */
  read(update: Update): ToolNews[] {
    switch (update.sessionUpdate) {
      case 'tool_call':
      case 'tool_call_update':
        return update.toolCallId === undefined ? [] : this.#take(update.toolCallId, update)
      case 'terminal_update':
        return update.terminalId === undefined ? [] : this.#takeTerminal(update.terminalId, update)
      default:
        return []
    }
  }

  clear(): void {
    this.#calls.clear()
  }

  #take(id: string, update: Update): ToolNews[] {
    const call = this.#find(id)
    call.kind = update.kind ?? call.kind
    call.status = update.status ?? call.status
    call.title = update.title ?? call.title
    call.name = update.name ?? call.name
    call.command = update.rawInput?.command ?? call.command
    call.locations = update.locations?.flatMap(({ path }) => path ?? []) ?? call.locations
    call.diffs = update.content === undefined ? call.diffs : diffsIn(update.content)
    return this.#tell(id, call)
  }

  /** Version 2 tells of a command by the terminal that it runs in. */
  #takeTerminal(id: string, update: Update): ToolNews[] {
    const key = `terminal ${id}`
    if (!this.#calls.has(key) && update.command === undefined) return []
    const call = this.#find(key)
    call.kind = 'execute'
    call.name = 'terminal'
    call.command = update.command ?? call.command
    call.status = update.exitStatus === undefined ? 'in_progress' : 'completed'
    return this.#tell(key, call)
  }

  #find(id: string): Call {
    const found = this.#calls.get(id)
    if (found !== undefined) return found
    const oldest = this.#calls.keys().next().value
    if (this.#calls.size >= KEPT && oldest !== undefined) this.#calls.delete(oldest)
    const made: Call = {
      kind: 'other',
      status: 'pending',
      title: null,
      name: null,
      command: null,
      locations: [],
      diffs: [],
      hasBegun: false,
    }
    this.#calls.set(id, made)
    return made
  }

  #tell(id: string, call: Call): ToolNews[] {
    const hasEnded = ENDED.has(call.status)
    if (hasEnded) this.#calls.delete(id)
    const isWriting = WRITING.has(call.kind) || call.diffs.length > 0
    // One that waits for the person's leave does nothing yet.
    if (!isWriting || (!hasEnded && (call.status === 'pending' || call.hasBegun))) return []
    const before = call.hasBegun ? [] : [newsOf('tool.before', call)]
    call.hasBegun = true
    return hasEnded ? [...before, newsOf('tool.after', call)] : before
  }
}

function newsOf(type: ToolNews['type'], { kind, name, title, command, locations, diffs }: Call): ToolNews {
  const isCommand = kind === 'execute'
  // Where a command looks is not what it writes.
  const paths = isCommand ? diffs : [...new Set([...locations, ...diffs])]
  return { type, tool: name ?? kind, command: isCommand ? (command ?? title) : null, paths }
}

function diffsIn(content: NonNullable<Update['content']>): string[] {
  return content.flatMap(({ type, path, changes = [] }) =>
    type === 'diff'
      ? [path, ...changes.flatMap((change) => [change.oldPath, change.path])].flatMap((each) => each ?? [])
      : [],
  )
}
