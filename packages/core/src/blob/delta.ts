/**
 * One version of a file as copies from another version of it and bytes of its own (docs/format.md). Bytes:
 *
 *     instruction*
 *     instruction = varint (length << 1 | 1) · zigzag varint of (offset - end of the copy before)   copy from the base
 *                 | varint (length << 1) · that many bytes                                          insert
 *
 * Varints are little-endian, seven bits to a byte. Nothing in a delta is compressed: whoever stores it does that.
 */

/** Length of the pieces of the base that are looked for. Shorter ones find more and cost more. */
const PIECE = 16
/** A copy shorter than this costs about as much as the bytes themselves. */
const SHORTEST_COPY = 12
/** Places in the table per piece of the base: few collisions, and still small. */
const SLOTS_PER_PIECE = 2
/** Odd, and mixes well; the rolling hash is a polynomial in it, modulo 2^32. */
const FACTOR = 0x2c1b3c6d
/** How much of the target is looked at before a bad ratio ends the search. */
const TRIAL_BYTES = 32 * 1024

/** FACTOR to the power of PIECE: takes the byte that leaves the window out of the hash. */
const LEAVING = power(FACTOR, PIECE)

/**
 * Instructions that make `target` from `base`, or null when they would be longer than `maxBytes`: then the two have
 * little in common and the search is given up early.
 */
export function encodeDelta(base: Uint8Array, target: Uint8Array, maxBytes: number): Uint8Array | null {
  const head = commonHead(base, target)
  const tail = commonTail(base, target, head)
  const out = new DeltaWriter(target, maxBytes)
  if (head > 0) out.copy(0, head)
  const ends = { base: base.length - tail, target: target.length - tail }
  if (!encodeMiddle(out, base, target, head, ends)) return null
  if (tail > 0) out.copy(base.length - tail, tail)
  return out.finish()
}

/**
 * The bytes that a delta stands for, or null when it is none: it reaches out of the base, or makes more or less than
 * `sizeBytes`. Takes no more memory than those, whatever the delta says.
 */
export function applyDelta(base: Uint8Array, delta: Uint8Array, sizeBytes: number): Uint8Array | null {
  const out = new Uint8Array(sizeBytes)
  const read = new DeltaReader(delta)
  let made = 0
  let copyEnd = 0
  while (!read.isAtEnd) {
    const word = read.number()
    if (word < 0) return null
    const length = Math.floor(word / 2)
    if (length === 0 || length > sizeBytes - made) return null
    if (word % 2 === 0) {
      const inserted = read.bytes(length)
      if (inserted === null) return null
      out.set(inserted, made)
    } else {
      const step = read.number()
      if (step < 0) return null
      const from = copyEnd + (step % 2 === 0 ? step / 2 : -(step + 1) / 2)
      if (from < 0 || length > base.length - from) return null
      out.set(base.subarray(from, from + length), made)
      copyEnd = from + length
    }
    made += length
  }
  return made === sizeBytes ? out : null
}

/** Instructions for what lies between the common head and tail. False when they grow too long. */
function encodeMiddle(
  out: DeltaWriter,
  base: Uint8Array,
  target: Uint8Array,
  begin: number,
  ends: { readonly base: number; readonly target: number },
): boolean {
  if (ends.target - begin < PIECE || ends.base - begin < PIECE) return out.insert(begin, ends.target)
  const table = indexPieces(base, begin, ends.base)
  const shift = 32 - Math.log2(table.length)
  const trialEnd = begin + TRIAL_BYTES
  let pending = begin
  let at = begin
  let hash = hashPiece(target, at)
  while (at + PIECE <= ends.target) {
    const found = (table[Math.imul(hash, FACTOR) >>> shift] ?? 0) - 1
    const match = found < 0 ? 0 : matchLength(base, found, ends.base, target, at, ends.target)
    if (match < SHORTEST_COPY) {
      hash = (Math.imul(hash, FACTOR) + (target[at + PIECE] ?? 0) - Math.imul(LEAVING, target[at] ?? 0)) | 0
      at++
      if (at - pending > out.room || (at === trialEnd && out.isPoor(at - begin, at - pending))) return false
      continue
    }
    const back = matchBack(base, found, begin, target, at, pending)
    if (!out.insert(pending, at - back)) return false
    out.copy(found - back, match + back)
    at += match
    pending = at
    if (at + PIECE <= ends.target) hash = hashPiece(target, at)
  }
  return out.insert(pending, ends.target)
}

/** Where pieces of the base begin, by their hash; 0 for none. Of equal ones the last is kept. */
function indexPieces(base: Uint8Array, begin: number, end: number): Int32Array {
  const pieces = Math.floor((end - begin) / PIECE)
  const bits = Math.max(4, Math.ceil(Math.log2(pieces * SLOTS_PER_PIECE)))
  const table = new Int32Array(2 ** bits)
  const shift = 32 - bits
  for (let at = begin; at + PIECE <= end; at += PIECE) {
    table[Math.imul(hashPiece(base, at), FACTOR) >>> shift] = at + 1
  }
  return table
}

function hashPiece(bytes: Uint8Array, at: number): number {
  let hash = 0
  for (let i = at; i < at + PIECE; i++) hash = (Math.imul(hash, FACTOR) + (bytes[i] ?? 0)) | 0
  return hash
}

function power(factor: number, exponent: number): number {
  let product = 1
  for (let i = 0; i < exponent; i++) product = Math.imul(product, factor)
  return product
}

function matchLength(
  base: Uint8Array,
  baseAt: number,
  baseEnd: number,
  target: Uint8Array,
  at: number,
  end: number,
): number {
  const most = Math.min(baseEnd - baseAt, end - at)
  let length = 0
  while (length < most && base[baseAt + length] === target[at + length]) length++
  return length
}

/** How far a match reaches back, over bytes that would have to be inserted otherwise. */
function matchBack(
  base: Uint8Array,
  baseAt: number,
  baseBegin: number,
  target: Uint8Array,
  at: number,
  pending: number,
): number {
  const most = Math.min(baseAt - baseBegin, at - pending)
  let length = 0
  while (length < most && base[baseAt - length - 1] === target[at - length - 1]) length++
  return length
}

function commonHead(a: Uint8Array, b: Uint8Array): number {
  return matchLength(a, 0, a.length, b, 0, b.length)
}

function commonTail(a: Uint8Array, b: Uint8Array, head: number): number {
  return matchBack(a, a.length, head, b, b.length, head)
}

class DeltaWriter {
  readonly #target: Uint8Array
  readonly #maxBytes: number
  #bytes: Uint8Array
  #length = 0
  #copyEnd = 0

  constructor(target: Uint8Array, maxBytes: number) {
    this.#target = target
    this.#maxBytes = maxBytes
    this.#bytes = new Uint8Array(256)
  }

  /** Bytes that may still be written. */
  get room(): number {
    return this.#maxBytes - this.#length
  }

  /** True when what was looked at so far gives no hope of staying within the limit. */
  isPoor(looked: number, pending: number): boolean {
    return (this.#length + pending) / looked > this.#maxBytes / this.#target.length
  }

  copy(from: number, length: number): void {
    this.#number(length * 2 + 1)
    const step = from - this.#copyEnd
    this.#number(step < 0 ? -step * 2 - 1 : step * 2)
    this.#copyEnd = from + length
  }

  /** False when there is no room for it. */
  insert(begin: number, end: number): boolean {
    if (begin === end) return this.#length <= this.#maxBytes
    this.#number((end - begin) * 2)
    if (this.#length + end - begin > this.#maxBytes) return false
    this.#reserve(end - begin)
    this.#bytes.set(this.#target.subarray(begin, end), this.#length)
    this.#length += end - begin
    return true
  }

  finish(): Uint8Array | null {
    return this.#length <= this.#maxBytes ? this.#bytes.slice(0, this.#length) : null
  }

  #number(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) + 128
      rest = Math.floor(rest / 128)
    }
    this.#bytes[this.#length++] = rest
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}

class DeltaReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** A varint below 2^49, or -1 when it is cut off or longer. */
  number(): number {
    let value = 0
    let unit = 1
    for (let i = 0; i < 7; i++) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) return -1
      value += (byte % 128) * unit
      if (byte < 128) return value
      unit *= 128
    }
    return -1
  }

  /** The next bytes, or null when there are not as many. */
  bytes(length: number): Uint8Array | null {
    if (length > this.#bytes.length - this.#at) return null
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }
}
