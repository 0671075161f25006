import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'
import { SettingsFault } from './json-text.ts'
import type { BlockEdit } from './setup.ts'

const opens = (name: string) =>
  `# >>> turnback ${name} (by \`turnback install\`; \`turnback uninstall\` removes it)`
const closes = (name: string) => `# <<< turnback ${name}`

/** The text with the block, at its place. @throws SettingsFault when the file is no TOML, or takes the block for something else */
export function applyBlock(text: string, edit: BlockEdit): string {
  const bare = removeBlock(text, edit.name)
  const others = readToml(bare)
  if (memberAt(others, edit.unless) !== undefined) return bare
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const lines = [opens(edit.name), ...edit.text.trimEnd().split('\n'), closes(edit.name)].join(eol)
  const edited = hasBlock(text, edit.name)
    ? replaceBlock(text, edit.name, lines)
    : edit.place === 'top'
      ? `${lines}${eol}${bare}`
      : `${bare}${bare === '' || bare.endsWith('\n') ? '' : eol}${lines}${eol}`
  const now = readToml(edited)
  const { [edit.unless[0] ?? '']: _ours, ...rest } = now
  const { [edit.unless[0] ?? '']: _theirs, ...before } = others
  if (memberAt(now, edit.unless) === undefined || !isDeepStrictEqual(rest, before))
    throw new SettingsFault(
      text,
      0,
      `${edit.unless.join('.')} cannot be put into this file without changing the rest of it`,
    )
  return edited
}

/** The text without the block. A block whose end is gone is left, so that nothing of somebody else's goes with it. */
export function removeBlock(text: string, name: string): string {
  return hasBlock(text, name) ? replaceBlock(text, name, null) : text
}

export function hasBlock(text: string, name: string): boolean {
  return findBlock(text, name) !== null
}

function replaceBlock(text: string, name: string, lines: string | null): string {
  const found = findBlock(text, name)
  if (found === null) return text
  const [from, to] = found
  if (lines !== null) return `${text.slice(0, from)}${lines}${text.slice(to)}`
  const after = /^\r?\n/.exec(text.slice(to))?.[0].length ?? 0
  return `${text.slice(0, from)}${text.slice(to + after)}`
}

function findBlock(text: string, name: string): [from: number, to: number] | null {
  const from = text.indexOf(opens(name))
  const end = from < 0 ? -1 : text.indexOf(closes(name), from)
  return end < 0 ? null : [from, end + closes(name).length]
}

type Table = Readonly<Record<string, unknown>>

/** @throws SettingsFault */
export function readToml(text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const start = text
      .split('\n')
      .slice(0, error.line - 1)
      .join('\n').length
    const why = error.message.split('\n')[0] ?? 'not TOML'
    throw new SettingsFault(text, start + (error.line > 1 ? 1 : 0) + Math.max(0, error.column - 1), why)
  }
}

function memberAt(table: Table, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
    table,
  )
}
