import type { ReadProgress } from '#capture-ports.ts'

/** Nothing is shown of what is over sooner. */
const PATIENCE_MS = 500
const EVERY_MS = 100
const BYTES_PER_MB = 1_000_000

/** Shows how far a first capture is, in one line that is written over and taken away at the end. For a terminal. */
export function showProgress(
  write: (text: string) => void,
  nowMs: () => number = () => performance.now(),
): (progress: ReadProgress) => void {
  let nextMs = nowMs() + PATIENCE_MS
  let width = 0
  return ({ files, bytes, ofFiles }) => {
    if (files === ofFiles) {
      if (width > 0) write(`\r${' '.repeat(width)}\r`)
      width = 0
      return
    }
    const now = nowMs()
    if (now < nextMs) return
    nextMs = now + EVERY_MS
    const line = `first capture: ${files} of ${ofFiles} files, ${(bytes / BYTES_PER_MB).toFixed(1)} MB`
    write(`\r${line.padEnd(width)}`)
    width = Math.max(width, line.length)
  }
}
