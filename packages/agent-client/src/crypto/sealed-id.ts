import { createHash, createHmac, hash } from 'node:crypto'
import type { BlobId, PlainBlobId, SealedBlobId } from '@turnback/core'

const DOMAIN = 'turnback/blob/v1\0'
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

export function plainId(bytes: Uint8Array): PlainBlobId {
  return `p${hash('sha256', bytes, 'hex')}`
}

/**
 * Name of bytes that must not be guessed from their name: an HMAC under the workspace's own key, over the
 * domain, the length (8 bytes, big-endian) and the bytes.
 */
export function sealedId(idKey: Uint8Array, bytes: Uint8Array): SealedBlobId {
  return `s${base32(startSealed(idKey, bytes.length).update(bytes).digest())}`
}

/** Names bytes that come in pieces. */
export interface Naming {
  update(piece: Uint8Array): void
  finish(): BlobId
}

/**
 * @param idKey null for a plain name
 * @param sizeBytes of all pieces together; part of a sealed name
 */
export function startNaming(idKey: Uint8Array | null, sizeBytes: number): Naming {
  const digest = idKey === null ? createHash('sha256') : startSealed(idKey, sizeBytes)
  return {
    update: (piece) => void digest.update(piece),
    finish: () => (idKey === null ? `p${digest.digest('hex')}` : `s${base32(digest.digest())}`),
  }
}

function startSealed(idKey: Uint8Array, sizeBytes: number) {
  const length = new Uint8Array(8)
  new DataView(length.buffer).setBigUint64(0, BigInt(sizeBytes))
  return createHmac('sha256', idKey).update(DOMAIN).update(length)
}

/** RFC 4648 base32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      out += ALPHABET.charAt((value >>> bits) & 31)
    }
  }
  if (bits > 0) out += ALPHABET.charAt((value << (5 - bits)) & 31)
  return out
}
