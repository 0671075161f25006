/** Where a text stops being JSON. Lines and columns count from 1, columns in characters of JavaScript. */
export interface JsonPlace {
  readonly line: number
  readonly column: number
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** The first place that cannot be JSON, or null when all of it is. The parser itself names a place for some mistakes only. */
export function findJsonFault(text: string): JsonPlace | null {
  const reader = new Reader(text)
  if (reader.isValue() && reader.isAtEnd()) return null
  const before = text.slice(0, reader.at)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

/** Stays where it could not go on. */
class Reader {
  readonly #text: string
  at = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#take(SPACE)
    return this.at === this.#text.length
  }

  isValue(): boolean {
    this.#take(SPACE)
    if (this.#takeSign('{')) return this.#isList('}', () => this.#isMember())
    if (this.#takeSign('[')) return this.#isList(']', () => this.isValue())
    return this.#take(STRING) || this.#take(SCALAR)
  }

  #isList(end: string, isItem: () => boolean): boolean {
    if (this.#takeSign(end)) return true
    do {
      if (!isItem()) return false
    } while (this.#takeSign(','))
    return this.#takeSign(end)
  }

  #isMember(): boolean {
    this.#take(SPACE)
    return this.#take(STRING) && this.#takeSign(':') && this.isValue()
  }

  #takeSign(sign: string): boolean {
    this.#take(SPACE)
    if (this.#text[this.at] !== sign) return false
    this.at++
    return true
  }

  #take(what: RegExp): boolean {
    what.lastIndex = this.at
    if (!what.test(this.#text)) return false
    this.at = what.lastIndex
    return true
  }
}
