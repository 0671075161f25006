/**
 * What is wanted of a JSON text: a string, number or literal; of an object the named keys; of an array each item.
 */
export type Wanted = 'value' | { readonly [key: string]: Wanted } | readonly [Wanted]

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d])
/** Bytes that end a number or literal. */
const ENDS: ReadonlySet<number> = new Set([...SPACES, COMMA, CLOSE_OBJECT, CLOSE_ARRAY])

const ITEMS = 1000
/** A key is wanted or it is not: no wanted one is longer. */
const KEY_BYTES = 64
const LITERAL_BYTES = 64
const DEPTH = 1000
/** What all strings of one text take, whatever it is. */
const TOTAL_BYTES = 1024 * 1024

type Kept = string | number | boolean | null | Kept[] | { [key: string]: Kept }

interface Container {
  readonly isArray: boolean
  readonly wanted: Wanted | null
  readonly kept: Kept[] | { [key: string]: Kept } | null
  key: string
}

/**
 * Reads a JSON text of any length piece by piece, and keeps only what is wanted of it, so that a message of gigabytes is
 * understood in little memory. Wanted strings are cut at `stringBytes`, wanted arrays after 1000 items. It judges no
 * syntax that it need not: whether a text is JSON is for its readers.
 */
export class OutlineReader {
  readonly #wanted: Wanted
  readonly #stringBytes: number
  #stack: Container[] = []
  #root: Kept | undefined
  #isBroken = false
  #inString = false
  /** The next byte stands after a backslash. */
  #isEscaped = false
  /** Of \uXXXX, digits that are still to come. */
  #digits = 0
  #isKey = false
  /** The string or literal that is being read, if it is wanted. */
  #text: number[] | null = null
  /** Where the text can be cut: not within an escape. */
  #whole = 0
  #isCut = false
  #limit = 0
  #total = 0
  #inLiteral = false

  constructor(wanted: Wanted, stringBytes: number) {
    this.#wanted = wanted
    this.#stringBytes = stringBytes
  }

  feed(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length && !this.#isBroken)
      at = this.#inString ? this.#readString(bytes, at) : this.#readByte(bytes, at)
  }

  /** What was wanted of the text that ends here, undefined when there was none or it is no JSON; and begins the next. */
  finish(): unknown {
    if (this.#inLiteral) this.#endLiteral()
    const isWhole = !this.#isBroken && this.#stack.length === 0 && !this.#inString
    const root = isWhole ? this.#root : undefined
    this.#stack = []
    this.#root = undefined
    this.#isBroken = this.#inString = this.#isEscaped = this.#isKey = this.#isCut = this.#inLiteral = false
    this.#digits = this.#total = this.#whole = 0
    this.#text = null
    return root
  }

  #readByte(bytes: Uint8Array, at: number): number {
    const byte = bytes[at] ?? 0
    if (this.#inLiteral) {
      if (!ENDS.has(byte)) {
        this.#keep(byte)
        return at + 1
      }
      this.#endLiteral()
    }
    if (SPACES.has(byte)) return at + 1
    const top = this.#stack.at(-1)
    switch (byte) {
      case QUOTE:
        this.#beginString(top)
        break
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#open(byte === OPEN_ARRAY)
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        if (top === undefined || top.isArray !== (byte === CLOSE_ARRAY)) this.#isBroken = true
        else this.#close()
        break
      case COMMA:
        if (top === undefined) this.#isBroken = true
        else this.#isKey = !top.isArray
        break
      case COLON:
        if (top === undefined || top.isArray) this.#isBroken = true
        this.#isKey = false
        break
      default:
        this.#inLiteral = true
        this.#beginText(this.#wantedHere() === 'value' ? LITERAL_BYTES : 0)
        this.#keep(byte)
    }
    return at + 1
  }

  /** @returns where reading goes on */
  #readString(bytes: Uint8Array, from: number): number {
    let at = from
    while (at < bytes.length) {
      const byte = bytes[at] ?? 0
      if (this.#digits > 0) {
        this.#digits--
        this.#keep(byte)
      } else if (this.#isEscaped) {
        this.#isEscaped = false
        if (byte === 0x75) this.#digits = 4
        this.#keep(byte)
      } else if (byte === QUOTE) {
        this.#endString()
        return at + 1
      } else if (byte === BACKSLASH) {
        this.#mark()
        this.#isEscaped = true
        this.#keep(byte)
      } else if (this.#text === null || this.#isCut) {
        at = nextMark(bytes, at)
        continue
      } else {
        // A character's later bytes belong to its first.
        if ((byte & 0xc0) !== 0x80) this.#mark()
        this.#keep(byte)
      }
      at++
    }
    return at
  }

  #beginString(top: Container | undefined): void {
    this.#inString = true
    if (this.#isKey && top !== undefined) this.#beginText(isKeys(top.wanted) ? KEY_BYTES : 0)
    else this.#beginText(this.#wantedHere() === 'value' ? this.#stringBytes : 0)
  }

  #endString(): void {
    this.#inString = false
    const top = this.#stack.at(-1)
    const wasCut = this.#isCut
    const text = this.#takeText()
    const value = text === null ? undefined : parse(`"${text}"`)
    if (this.#isKey && top !== undefined) top.key = typeof value === 'string' && !wasCut ? value : ''
    else if (value !== undefined) this.#put(value)
  }

  #endLiteral(): void {
    this.#inLiteral = false
    const wasCut = this.#isCut
    const text = this.#takeText()
    if (text === null) return
    const value = wasCut ? undefined : parse(text)
    if (value === undefined) this.#isBroken = true
    else this.#put(value)
  }

  #open(isArray: boolean): void {
    const here = this.#wantedHere()
    const isMeant = here !== null && (isArray ? isItems(here) : isKeys(here))
    const kept: Container['kept'] = isMeant ? (isArray ? [] : {}) : null
    if (kept !== null) this.#put(kept)
    if (this.#stack.length >= DEPTH) this.#isBroken = true
    this.#stack.push({ isArray, wanted: isMeant ? here : null, kept, key: '' })
    this.#isKey = !isArray
  }

  #close(): void {
    this.#stack.pop()
    this.#isKey = false
  }

  /** What is wanted of the value that begins here, or null. */
  #wantedHere(): Wanted | null {
    const top = this.#stack.at(-1)
    if (top === undefined) return this.#root === undefined ? this.#wanted : null
    const { wanted, kept } = top
    if (wanted === null || kept === null) return null
    if (Array.isArray(kept)) return kept.length < ITEMS && isItems(wanted) ? wanted[0] : null
    return isKeys(wanted) && Object.hasOwn(wanted, top.key) ? (wanted[top.key] ?? null) : null
  }

  #put(value: Kept): void {
    const top = this.#stack.at(-1)
    if (top === undefined) this.#root = value
    else if (Array.isArray(top.kept)) top.kept.push(value)
    else if (top.kept !== null) top.kept[top.key] = value
  }

  #beginText(limit: number): void {
    this.#limit = Math.min(limit, TOTAL_BYTES - this.#total)
    this.#text = limit === 0 ? null : []
    this.#isCut = false
    this.#whole = 0
  }

  #mark(): void {
    this.#whole = this.#text?.length ?? 0
  }

  #keep(byte: number): void {
    if (this.#text === null || this.#isCut) return
    if (this.#text.length < this.#limit) this.#text.push(byte)
    else {
      this.#isCut = true
      this.#text.length = this.#whole
    }
  }

  #takeText(): string | null {
    const text = this.#text === null ? null : Buffer.from(this.#text).toString('utf8')
    this.#total += this.#text?.length ?? 0
    this.#text = null
    this.#isCut = false
    return text
  }
}

/** The next byte of a string that means anything but itself. */
function nextMark(bytes: Uint8Array, from: number): number {
  const quote = bytes.indexOf(QUOTE, from)
  const end = quote < 0 ? bytes.length : quote
  const backslash = bytes.subarray(from, end).indexOf(BACKSLASH)
  return backslash < 0 ? end : from + backslash
}

function isItems(wanted: Wanted | null): wanted is readonly [Wanted] {
  return Array.isArray(wanted)
}

function isKeys(wanted: Wanted | null): wanted is { readonly [key: string]: Wanted } {
  return wanted !== null && wanted !== 'value' && !Array.isArray(wanted)
}

/** A string or literal; undefined for what is none. */
function parse(text: string): Kept | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean' ||
      value === null
      ? value
      : undefined
  } catch {
    return undefined
  }
}
