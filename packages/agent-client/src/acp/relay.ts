import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { OutlineReader, type Wanted } from './outline.ts'

const NEWLINE = 0x0a

/** What messages are read for. */
export interface Reading {
  readonly wanted: Wanted
  readonly stringBytes: number
  /**
   * Told of each message before its end is passed on: who gets it does nothing until then. It never rejects.
   * @param outline undefined for what is no JSON
   */
  onMessage(outline: unknown): Promise<void> | null
}

/**
 * Passes on what comes, byte for byte, in order, and no faster than it is taken. Messages are lines; however long one is,
 * no more of it is held than a piece.
 * @returns when there is no more, or nobody takes it
 */
export async function relay(from: Readable, to: Writable, reading: Reading): Promise<void> {
  const reader = new OutlineReader(reading.wanted, reading.stringBytes)
  for await (const piece of from) {
    const bytes: Uint8Array = piece
    let passed = 0
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, at)
      reader.feed(bytes.subarray(at, end < 0 ? bytes.length : end))
      if (end < 0) break
      at = end + 1
      const wait = reading.onMessage(reader.finish())
      if (wait === null) continue
      if (!(await write(to, bytes.subarray(passed, end)))) return
      await wait
      passed = end
    }
    if (!(await write(to, bytes.subarray(passed)))) return
  }
}

/** @returns false when nobody is there any more */
async function write(to: Writable, bytes: Uint8Array): Promise<boolean> {
  if (!to.writable) return false
  if (bytes.length === 0 || to.write(bytes)) return true
  const gone = new AbortController()
  try {
    await Promise.race([
      once(to, 'drain', { signal: gone.signal }),
      once(to, 'close', { signal: gone.signal }),
    ])
  } catch {
    // It broke off: said by `writable`.
  } finally {
    gone.abort()
  }
  return to.writable
}
