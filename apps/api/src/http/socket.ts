import type { RawData } from 'ws'
import type { z } from 'zod'

/** Why we close a socket. */
export const CLOSE = {
  /** The other side broke the rules, or may no longer be here. */
  policy: 1008,
  internal: 1011,
  /** Something was missed: connect again and read again. */
  restart: 1012,
  /** It does not read what it is sent. */
  slow: 1013,
  /** Another socket took its place. */
  replaced: 4000,
} as const

/** The message of a text frame, or null when it is none of the set. */
export function readFrame<T>(data: RawData, isBinary: boolean, schema: z.ZodType<T>): T | null {
  if (isBinary) return null
  try {
    const parsed = schema.safeParse(JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : ''))
    return parsed.success ? parsed.data : null
  } catch {
    return null
  }
}
