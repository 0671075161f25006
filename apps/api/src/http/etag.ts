import { createHash } from 'node:crypto'

/** A strong tag: the same parts always give the same bytes of an answer. */
export function etagOf(...parts: readonly (string | number | null | undefined)[]): string {
  return `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}"`
}

/** Whether the caller holds that very answer. Compared weakly, as RFC 9110 says: a proxy may have weakened the tag. */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === etag)
}
