import { DomainError } from '@turnback/core'
import type { z } from 'zod'

/** Cursors are opaque to callers: base64url of the last item's key, and nothing that may not be seen. */
export function writeCursor(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url')
}

/** @throws VALIDATION_FAILED when it is no cursor of this list */
export function readCursor<T>(cursor: string | undefined, key: z.ZodType<T>): T | null {
  if (cursor === undefined) return null
  const parsed = key.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (parsed.success) return parsed.data
  throw new DomainError('VALIDATION_FAILED', {
    fields: [{ path: 'cursor', message: 'not a cursor of this list' }],
  })
}

/** Makes a page from one row more than was asked for. */
export function toPage<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => string,
): { items: T[]; nextCursor: string | null } {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? writeCursor(keyOf(last)) : null }
}
