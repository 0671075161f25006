import { type CipherGCM, createCipheriv, createDecipheriv, type DecipherGCM, randomBytes } from 'node:crypto'
import { type BlobId, invariant } from '@turnback/core'

export const NONCE_BYTES = 12
export const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'
/** What the cipher is given at once: its own output must not double what is in memory. */
const STEP_BYTES = 1024 * 1024

/**
 * Sealed bytes as they rest on this machine: nonce (12), AES-256-GCM ciphertext, tag (16). The blob's id is
 * bound in, so that bytes can not be passed off under another name.
 */
export function lockBytes(
  storeKey: Uint8Array,
  id: BlobId,
  bytes: Uint8Array,
  nonce: Uint8Array = randomBytes(NONCE_BYTES),
): Uint8Array {
  const { cipher } = startLocking(storeKey, id, nonce)
  const locked = new Uint8Array(NONCE_BYTES + bytes.length + TAG_BYTES)
  locked.set(nonce)
  for (let at = 0; at < bytes.length; at += STEP_BYTES)
    locked.set(cipher.update(bytes.subarray(at, at + STEP_BYTES)), NONCE_BYTES + at)
  // A stream cipher holds nothing back.
  invariant(cipher.final().length === 0, 'GCM gives out each byte at once')
  locked.set(cipher.getAuthTag(), NONCE_BYTES + bytes.length)
  return locked
}

/** The cipher for bytes that come in pieces; nonce, what it gives, and its tag make the locked form. */
export function startLocking(
  storeKey: Uint8Array,
  id: BlobId,
  nonce: Uint8Array = randomBytes(NONCE_BYTES),
): { readonly nonce: Uint8Array; readonly cipher: CipherGCM } {
  const cipher = createCipheriv(ALGORITHM, storeKey, nonce)
  cipher.setAAD(Buffer.from(id, 'ascii'))
  return { nonce, cipher }
}

/** The other way. What it gives is not known to be right before `final()` returned. */
export function startUnlocking(
  storeKey: Uint8Array,
  id: BlobId,
  nonce: Uint8Array,
  tag: Uint8Array,
): DecipherGCM {
  const decipher = createDecipheriv(ALGORITHM, storeKey, nonce)
  decipher.setAAD(Buffer.from(id, 'ascii'))
  decipher.setAuthTag(tag)
  return decipher
}

/** The bytes again, or null when they are damaged or under another key. */
export function unlockBytes(storeKey: Uint8Array, id: BlobId, locked: Uint8Array): Uint8Array | null {
  if (locked.length < NONCE_BYTES + TAG_BYTES) return null
  const tag = locked.subarray(locked.length - TAG_BYTES)
  const decipher = startUnlocking(storeKey, id, locked.subarray(0, NONCE_BYTES), tag)
  try {
    const body = decipher.update(locked.subarray(NONCE_BYTES, locked.length - TAG_BYTES))
    return Buffer.concat([body, decipher.final()])
  } catch {
    // GCM says nothing more than that they do not fit.
    return null
  }
}
