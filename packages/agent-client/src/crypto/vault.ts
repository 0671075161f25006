import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { BlobId } from '@turnback/core'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Sealed bytes as they rest on this machine: nonce (12), AES-256-GCM ciphertext, tag (16). The blob's id is
 * bound in, so that bytes can not be passed off under another name.
 */
export function lockBytes(
  storeKey: Uint8Array,
  id: BlobId,
  bytes: Uint8Array,
  nonce = randomBytes(NONCE_BYTES),
): Uint8Array {
  const cipher = createCipheriv('aes-256-gcm', storeKey, nonce)
  cipher.setAAD(Buffer.from(id, 'ascii'))
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** The bytes again, or null when they are damaged or under another key. */
export function unlockBytes(storeKey: Uint8Array, id: BlobId, locked: Uint8Array): Uint8Array | null {
  if (locked.length < NONCE_BYTES + TAG_BYTES) return null
  const decipher = createDecipheriv('aes-256-gcm', storeKey, locked.subarray(0, NONCE_BYTES))
  decipher.setAAD(Buffer.from(id, 'ascii'))
  decipher.setAuthTag(locked.subarray(locked.length - TAG_BYTES))
  try {
    const body = decipher.update(locked.subarray(NONCE_BYTES, locked.length - TAG_BYTES))
    return Buffer.concat([body, decipher.final()])
  } catch {
    // GCM says nothing more than that they do not fit.
    return null
  }
}
