import { z } from 'zod'

/**
 * A blob's name: `p` + hex SHA-256 of the bytes, or `s` + base32 (lower case, no padding) of an
 * HMAC-SHA-256 under the workspace's own id key. A secret is never named by a plain hash: short secrets
 * could be guessed from it (docs/format.md).
 */
export const blobIdSchema = z.union([
  z.templateLiteral(['p', z.string().regex(/^[0-9a-f]{64}$/)]),
  z.templateLiteral(['s', z.string().regex(/^[a-z2-7]{52}$/)]),
])

/** Whether a text is the name of a blob, plain or sealed. */
export function isBlobId(text: string): text is BlobId {
  return /^(?:p[0-9a-f]{64}|s[a-z2-7]{52})$/.test(text)
}

export type PlainBlobId = `p${string}`
export type SealedBlobId = `s${string}`
export type BlobId = PlainBlobId | SealedBlobId

export function isSealed(blob: BlobId): blob is SealedBlobId {
  return blob.startsWith('s')
}
