import { invariant } from '@turnback/core'

/**
 * Columns of the store's own rows. They were written by this program under a checked schema, so a wrong kind is
 * damage, not data: it throws.
 */
export type Row = Record<string, unknown>

export function text(row: Row, column: string): string {
  const value = row[column]
  invariant(typeof value === 'string', `${column} holds a text`)
  return value
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

export function integer(row: Row, column: string): number {
  const value = row[column]
  invariant(typeof value === 'number', `${column} holds a number`)
  return value
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column]
  invariant(value instanceof Uint8Array, `${column} holds bytes`)
  return value
}

/** JSON that this program wrote itself, by the named type. */
export function parseOwn<T>(text: string): T {
  return JSON.parse(text) as T
}

export function json<T>(row: Row, column: string): T {
  return parseOwn(text(row, column))
}

export function jsonOrNull<T>(row: Row, column: string): T | null {
  return row[column] === null ? null : json<T>(row, column)
}

/** An id of our own making: the column is written only with ids of this kind. */
export function id<P extends string>(row: Row, column: string, prefix: P): `${P}_${string}` {
  const value = text(row, column)
  invariant(isIdOf(value, prefix), `${column} holds an id`)
  return value
}

export function idOrNull<P extends string>(row: Row, column: string, prefix: P): `${P}_${string}` | null {
  return row[column] === null ? null : id(row, column, prefix)
}

function isIdOf<P extends string>(value: string, prefix: P): value is `${P}_${string}` {
  return value.startsWith(`${prefix}_`)
}
