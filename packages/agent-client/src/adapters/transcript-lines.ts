import { asFields, type Fields } from './fields.ts'

/** The lines of a part of a JSONL file that are whole, from the last to the first. */
export function* linesFromEnd(part: string): Generator<Fields> {
  for (let end = part.length; end > 0; ) {
    const at = part.lastIndexOf('\n', end - 1)
    const line = part.slice(at + 1, end)
    end = at
    const fields = line === '' ? null : parseLine(line)
    if (fields !== null) yield fields
  }
}

export function* linesFromStart(part: string): Generator<Fields> {
  for (const line of part.split('\n')) {
    const fields = line === '' ? null : parseLine(line)
    if (fields !== null) yield fields
  }
}

function parseLine(line: string): Fields | null {
  try {
    return asFields(JSON.parse(line))
  } catch {
    // Cut through, or being written just now.
    return null
  }
}

/** A time in a transcript, in milliseconds since 1970. */
export function timeOf(value: unknown): number | null {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(ms) ? ms : null
}
