import { readName } from '#path/name.ts'
import type { RelPath } from '#path/rel-path.ts'
import { concatBytes, utf8Bytes } from './bytes.ts'

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

/**
 * A name as git writes it in a patch: as it is, or in double quotes with C escapes when it holds control
 * characters, quotes, backslashes or bytes beyond ASCII.
 * @param name a byte string: each character stands for one byte
 */
export function quoteForGit(name: string): string {
  let quoted = ''
  for (const char of name) {
    const code = char.charCodeAt(0)
    const short = SHORT[char]
    if (short !== undefined) quoted += short
    else if (code < 0x20 || code >= 0x7f) quoted += `\\${code.toString(8).padStart(3, '0')}`
    else quoted += char
  }
  return quoted === name ? name : `"${quoted}"`
}

/** The bytes of a written path: `b64:` escapes are undone name by name. */
export function rawPath(path: RelPath): Uint8Array {
  const slash = Uint8Array.of(0x2f)
  return concatBytes(
    path.split('/').flatMap((name, i) => (i === 0 ? [rawName(name)] : [slash, rawName(name)])),
  )
}

/** The bytes of one written name, or of a link's text, which is written as one name. */
export function rawName(written: string): Uint8Array {
  return readName(written) ?? utf8Bytes(written)
}
