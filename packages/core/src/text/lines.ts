const CHUNK = 8192

/**
 * Lines of any bytes: each character stands for one byte, so text that is not UTF-8 survives byte for byte.
 * Every line but perhaps the last ends in a line feed, which is a part of it.
 */
export type ByteLine = string

/** Bytes as a string of characters 0 to 255. */
export function byteString(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += CHUNK) text += String.fromCharCode(...bytes.subarray(i, i + CHUNK))
  return text
}

/** The way back from {@link byteString}. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

export function splitLines(bytes: Uint8Array): ByteLine[] {
  const text = byteString(bytes)
  const lines: ByteLine[] = []
  let at = 0
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end + 1
    lines.push(text.slice(at, next))
    at = next
  }
  return lines
}

export function joinLines(lines: readonly ByteLine[]): Uint8Array {
  return bytesOf(lines.join(''))
}
