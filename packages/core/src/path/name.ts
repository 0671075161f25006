import { utf8Bytes } from '#text/bytes.ts'

/** How one name of a path is written: as itself, or as `b64:` + base64url of its bytes (see `RelPath`). */
export const ESCAPE = 'b64:'
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Written form of a name's bytes. */
export function writeName(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes)
  return text === null || text.startsWith(ESCAPE) ? ESCAPE + toBase64Url(bytes) : text
}

/**
 * Bytes of a written name, or null when it is not the written form of anything: bad base64url, or an
 * escape around a name that needs none (each name has one written form only).
 */
export function readName(written: string): Uint8Array | null {
  // A lone surrogate stands for no bytes.
  if (!written.startsWith(ESCAPE)) return written.isWellFormed() ? utf8Bytes(written) : null
  const bytes = fromBase64Url(written.slice(ESCAPE.length))
  if (bytes === null) return null
  return writeName(bytes) === written ? bytes : null
}

function toBase64Url(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 6) {
      bits -= 6
      out += DIGITS.charAt((value >>> bits) & 63)
    }
  }
  if (bits > 0) out += DIGITS.charAt((value << (6 - bits)) & 63)
  return out
}

function fromBase64Url(text: string): Uint8Array | null {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const char of text) {
    const digit = DIGITS.indexOf(char)
    if (digit < 0) return null
    value = ((value << 6) | digit) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes.push((value >>> bits) & 0xff)
    }
  }
  return Uint8Array.from(bytes)
}

/** Text of strictly valid UTF-8, else null. */
function decodeUtf8(bytes: Uint8Array): string | null {
  let text = ''
  let i = 0
  while (i < bytes.length) {
    const length = sequenceLength(bytes[i] ?? 0)
    const code = length === 0 ? null : readSequence(bytes, i, length)
    if (code === null) return null
    text += String.fromCodePoint(code)
    i += length
  }
  return text
}

/** Bytes of the sequence that this lead byte begins, or 0 when no sequence begins so. */
function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xc2) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf5 ? 4 : 0
}

/** The smallest code point that needs so many bytes: a smaller one in as many is overlong. */
const SMALLEST: Readonly<Record<number, number>> = { 1: 0, 2: 0x80, 3: 0x800, 4: 0x10000 }

function readSequence(bytes: Uint8Array, at: number, length: number): number | null {
  let code = (bytes[at] ?? 0) & (length === 1 ? 0x7f : 0x7f >> length)
  for (let k = 1; k < length; k++) {
    const byte = bytes[at + k]
    if (byte === undefined || (byte & 0xc0) !== 0x80) return null
    code = (code << 6) | (byte & 63)
  }
  const isSurrogate = code >= 0xd800 && code <= 0xdfff
  return code < (SMALLEST[length] ?? 0) || code > 0x10ffff || isSurrogate ? null : code
}
