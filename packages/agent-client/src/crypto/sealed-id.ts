import { createHash, createHmac } from 'node:crypto'
import type { PlainBlobId, SealedBlobId } from '@turnback/core'

const DOMAIN = 'turnback/blob/v1\0'
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

export function plainId(bytes: Uint8Array): PlainBlobId {
  return `p${createHash('sha256').update(bytes).digest('hex')}`
}

/**
 * Name of bytes that must not be guessed from their name: an HMAC under the workspace's own key, over the
 * domain, the length (8 bytes, big-endian) and the bytes.
 */
export function sealedId(idKey: Uint8Array, bytes: Uint8Array): SealedBlobId {
  const length = new Uint8Array(8)
  new DataView(length.buffer).setBigUint64(0, BigInt(bytes.length))
  return `s${base32(createHmac('sha256', idKey).update(DOMAIN).update(length).update(bytes).digest())}`
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
