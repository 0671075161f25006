import { createHash, timingSafeEqual } from 'node:crypto'
import { DomainError } from '@turnback/core'

/** What came as a whole: JSON's bytes, or nothing. */
export function assertBodyHash(bytes: Uint8Array, sha256: string): void {
  if (!isSameHash(createHash('sha256').update(bytes).digest(), sha256))
    throw new DomainError('SIGNATURE_INVALID')
}

/**
 * Passes a streamed body on, counting and hashing. Only the end shows whether it was what was signed: whoever
 * reads it must not act on it before.
 */
export async function* checkedBody(
  source: AsyncIterable<Uint8Array>,
  bounds: { readonly maxBytes: number; readonly sha256: string | null },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of source) {
    sizeBytes += chunk.length
    if (sizeBytes > bounds.maxBytes) throw new DomainError('PAYLOAD_TOO_LARGE', { maxBytes: bounds.maxBytes })
    hash.update(chunk)
    yield chunk
  }
  if (bounds.sha256 !== null && !isSameHash(hash.digest(), bounds.sha256))
    throw new DomainError('SIGNATURE_INVALID')
}

/** The whole of a bounded body. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function isSameHash(digest: Uint8Array, sha256: string): boolean {
  const given = Buffer.from(sha256, 'hex')
  return given.length === digest.length && timingSafeEqual(given, digest)
}
