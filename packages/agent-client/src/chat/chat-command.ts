/** What a person asked of Turnback in an agent's chat, as words of a command line. */
export interface ChatCommand {
  readonly words: readonly string[]
  /** It means this chat's turns, so the session is added. */
  readonly isOfSession: boolean
}

/** `/turnback`, `/rewind`, `turnback rewind`, and what is behind it. */
const COMMAND = /^\s*(\/turnback|\/rewind|turnback\s+(?:rewind|undo|restore))(?=\s|$)(.*)$/s
/** What stands below the command in files that an agent puts its arguments into; see chat-files.ts. */
export const ELSE_MARK = 'If you can read this, '
/** A prompt longer than this is no command. */
const CHARACTERS = 4000

const OTHER: ReadonlySet<string> = new Set(['redo', 'preview', 'log', 'status', 'recover'])
/** Of the whole command line: they would say where it works, or how it prints. */
const REFUSED = /^(?:-C|--json$|--help$|-h$)/

/**
 * Finds a command in a prompt that is nothing but one. What stands behind it is data: it becomes words of one command
 * line, and reaches no shell.
 * @returns null for every other prompt; `unclear` for what can be meant for nobody but us, and is no command
 */
export function findChatCommand(prompt: string): ChatCommand | 'unclear' | null {
  const [, name, behind] = COMMAND.exec(prompt) ?? []
  if (name === undefined || behind === undefined) return null
  const [line = '', ...below] = behind.trimEnd().split('\n')
  const rest = below.join('\n').trim()
  const isOfFile = rest.startsWith(ELSE_MARK)
  const command = prompt.length > CHARACTERS || (rest !== '' && !isOfFile) ? null : commandOf(line)
  // `turnback rewind is what I want` is said to the model.
  return command ?? (name.startsWith('/') || isOfFile ? 'unclear' : null)
}

function commandOf(line: string): ChatCommand | null {
  const words = splitWords(line)
  if (words === null || words.some((word) => REFUSED.test(word))) return null
  const [first, ...more] = words
  if (first === undefined || first.startsWith('-')) return { words: ['undo', ...words], isOfSession: true }
  if (OTHER.has(first)) return { words, isOfSession: false }
  return isTurnName(first) && more.every(isOptionOrValue)
    ? { words: ['restore', first, ...more], isOfSession: false }
    : null
}

function isTurnName(word: string): boolean {
  return /^(?:@?[0-9]+|last|(?:t_)?[0-9a-z]{4,})$/.test(word) && /[0-9]|^last$/.test(word)
}

/** Only the value of an option stands without dashes. */
function isOptionOrValue(word: string, at: number, words: readonly string[]): boolean {
  return word.startsWith('--') || (words[at - 1] ?? '').startsWith('--')
}

/** Words as in a shell, with quotes and nothing else of one; null when a quote is not closed. */
function splitWords(line: string): string[] | null {
  const words: string[] = []
  const pieces = /\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))(?=\s|$)/y
  const text = line.trim()
  while (pieces.lastIndex < text.length) {
    const found = pieces.exec(text)
    if (found === null) return null
    words.push(found[1] ?? found[2] ?? found[3] ?? '')
  }
  return words
}
