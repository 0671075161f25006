import {
  createScanner,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'

/** A place in a settings file, by names and indices from the top. */
export type JsonPath = readonly (string | number)[]

/** A settings file that cannot be worked on: where, and why. */
export class SettingsFault extends Error {
  /** Counted from one. */
  readonly line: number
  readonly column: number
  readonly why: string

  constructor(text: string, offset: number, why: string) {
    super(why)
    this.name = 'SettingsFault'
    const before = text.slice(0, offset).split('\n')
    this.line = before.length
    this.column = (before.at(-1)?.length ?? 0) + 1
    this.why = why
  }
}

/** Reads JSON as agents do: comments and trailing commas are allowed. Null for an empty text. @throws SettingsFault */
export function parseSettings(text: string): Node | null {
  if (/^\s*$/.test(text)) return null
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined)
    throw new SettingsFault(text, first.offset, inWords(printParseErrorCode(first.error)))
  if (root === undefined) return null
  if (root.type !== 'object') throw new SettingsFault(text, root.offset, 'an object is expected')
  return root
}

/** `PropertyNameExpected` as words. */
function inWords(code: string): string {
  return code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
}

/** What is at this place; of a name that stands there twice the last, which is the one that programs read. */
export function findAt(root: Node | null, path: JsonPath): Node | undefined {
  let at = root ?? undefined
  for (const part of path) {
    if (typeof part === 'number') at = at?.type === 'array' ? at.children?.[part] : undefined
    else at = at?.type === 'object' ? findMember(at, part)?.children?.[1] : undefined
  }
  return at
}

/** The node's value, made of plain objects: the parser's have no prototype, and equal no others. */
export function readNode(node: Node | undefined): unknown {
  const value: unknown = node === undefined ? undefined : getNodeValue(node)
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function findMember(object: Node, name: string): Node | undefined {
  return object.children?.findLast((member) => member.children?.[0]?.value === name)
}

/** The text with a member or an item more; what lies on the way there is made. @throws SettingsFault when something else is in the way */
export function insertAt(
  text: string,
  path: readonly string[],
  value: unknown,
  as: 'member' | 'item',
): string {
  const root = parseSettings(text)
  if (root === null) {
    // Comments alone stay above what is made.
    const above = text.trim() === '' ? '' : `${text.trimEnd()}\n`
    return insertAt(`${above}{}\n`, path, value, as)
  }
  let container = root
  let depth = 0
  const last = as === 'member' ? path.length - 1 : path.length
  for (; depth < last; depth++) {
    const next = findAt(container, path.slice(depth, depth + 1))
    if (next === undefined) break
    const expected = as === 'item' && depth === last - 1 ? 'array' : 'object'
    if (next.type !== expected) {
      const name = path.slice(0, depth + 1).join('.')
      throw new SettingsFault(text, next.offset, `"${name}" should be an ${expected} here`)
    }
    container = next
  }
  const rest = path.slice(depth)
  let made = as === 'item' && rest.length > 0 ? [value] : value
  for (const name of rest.slice(1).reverse()) made = { [name]: made }
  return addChild(text, container, rest[0] ?? null, made)
}

/** How a file is laid out. */
interface Style {
  readonly eol: string
  /** One step of indentation. */
  readonly unit: string
  /** All on one line, without blanks. */
  readonly isDense: boolean
}

function styleOf(text: string): Style {
  const indent = /^([ \t]+)["[{]/m.exec(text)?.[1] ?? '  '
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit: indent.startsWith('\t') ? '\t' : indent,
    isDense: !text.trim().includes('\n') && /[^\s{}]/.test(text),
  }
}

function addChild(text: string, container: Node, name: string | null, value: unknown): string {
  const { eol, unit, isDense } = styleOf(text)
  const end = container.offset + container.length - 1
  const last = container.children?.at(-1)
  const inside = readInside(text, last === undefined ? container.offset + 1 : last.offset + last.length, end)
  const label = name === null ? '' : `${JSON.stringify(name)}:${isDense ? '' : ' '}`
  const comma = last === undefined || inside.comma !== null ? '' : ','
  const commaAt = last === undefined ? inside.end : last.offset + last.length
  const trailing = inside.comma === null ? '' : ','
  const before = `${text.slice(0, commaAt)}${comma}${text.slice(commaAt, inside.end)}`
  if (isDense) return `${before}${label}${JSON.stringify(value)}${trailing}${text.slice(inside.end)}`
  const outer = indentAt(text, container.offset)
  const inner = ownIndent(text, container.children?.[0]) ?? outer + unit
  const written = JSON.stringify(value, null, unit).replaceAll('\n', eol + inner)
  return `${before}${eol}${inner}${label}${written}${trailing}${closing(text.slice(inside.end, end), eol, outer)}${text.slice(end)}`
}

/** What stands before the closing bracket, which is to have a line of its own. */
function closing(blank: string, eol: string, outer: string): string {
  return blank.includes('\n') ? blank : eol + outer
}

interface Inside {
  /** Where a comma is that follows the last child. */
  readonly comma: number | null
  /** Behind the last word, comma or comment before the closing bracket. */
  readonly end: number
}

function readInside(text: string, from: number, to: number): Inside {
  const scanner = createScanner(text.slice(from, to), false)
  let comma: number | null = null
  let end = from
  for (;;) {
    scanner.scan()
    const size = scanner.getTokenLength()
    if (size === 0) return { comma, end }
    const token = text.slice(from + scanner.getTokenOffset(), from + scanner.getTokenOffset() + size)
    if (token === ',') comma = from + scanner.getTokenOffset()
    if (token.trim() !== '') end = from + scanner.getTokenOffset() + size
  }
}

/** The blanks with which the line of this offset begins. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** Null unless the node is the first thing of its line. */
function ownIndent(text: string, node: Node | undefined): string | null {
  if (node === undefined) return null
  const start = text.lastIndexOf('\n', node.offset - 1) + 1
  const before = text.slice(start, node.offset)
  return start > 0 && before.trim() === '' ? before : null
}

/** The text without the member or item at this place, and without the comma that it needed. Comments stay. */
export function removeAt(text: string, path: JsonPath): string {
  const found = findAt(parseSettings(text), path)
  const node = found?.parent?.type === 'property' ? found.parent : found
  const container = node?.parent
  if (node === undefined || container?.children === undefined) return text
  const index = container.children.indexOf(node)
  const next = container.children[index + 1]
  const previous = container.children[index - 1]
  const end = container.offset + container.length - 1
  const after = readInside(text, node.offset + node.length, next?.offset ?? end)
  const cutTo = after.comma === null ? node.offset + node.length : after.comma + 1
  const kept = text.slice(node.offset + node.length, after.comma ?? cutTo)
  const cutFrom = startOfCut(text, node.offset, cutTo)
  let head = text.slice(0, cutFrom)
  if (next === undefined && previous !== undefined && after.comma === null) {
    // What was the last but one needs its comma no more.
    const { comma } = readInside(text, previous.offset + previous.length, node.offset)
    if (comma !== null) head = `${text.slice(0, comma)}${text.slice(comma + 1, cutFrom)}`
  }
  const tail = `${kept.trim() === '' ? '' : kept}${text.slice(cutTo)}`
  if (previous !== undefined || next !== undefined) return `${head}${tail}`
  const bracket = tail.slice(0, end - cutTo)
  return bracket.trim() === '' && /[[{]\s*$/.test(head)
    ? `${head.trimEnd()}${tail.trimStart()}`
    : `${head}${tail}`
}

/** The line goes with what stood alone on it; a line that holds something else too stays one. */
function startOfCut(text: string, offset: number, cutTo: number): number {
  let start = offset
  while (start > 0 && /[ \t]/.test(text.charAt(start - 1))) start--
  if (!/^[ \t]*(\r?\n|[\]}])/.test(text.slice(cutTo))) return text.charAt(start - 1) === '\n' ? offset : start
  if (text.charAt(start - 1) === '\n') start -= text.charAt(start - 2) === '\r' ? 2 : 1
  return start
}
