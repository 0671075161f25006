import { createHash } from 'node:crypto'
import { DomainError, type FrameHeader, isSealed } from '@turnback/core'
import { unzstd } from './zstd.ts'

const AGE_HEAD = Buffer.from('age-encryption.org/v1\n-> ')
const AGE_OVERHEAD_BYTES = 200

/**
 * The bytes that a plain frame holds, checked against its id. Unpacks no more than the frame said it would.
 * @throws PACK_INVALID for a codec or length that does not fit, BLOB_HASH_MISMATCH for other bytes
 */
export async function openPlainFrame(frame: FrameHeader, stored: Uint8Array): Promise<Uint8Array> {
  const bytes = await decode(frame, stored)
  if (bytes.length !== frame.sizeBytes) throw new DomainError('PACK_INVALID', { why: 'size', blob: frame.id })
  const hash = createHash('sha256').update(bytes).digest('hex')
  if (frame.id !== `p${hash}`) throw new DomainError('BLOB_HASH_MISMATCH', { blob: frame.id })
  return bytes
}

/** Checks all that can be checked of a frame without a key. */
export async function checkFrame(frame: FrameHeader, stored: Uint8Array): Promise<void> {
  if (!isSealed(frame.id)) {
    await openPlainFrame(frame, stored)
    return
  }
  if (frame.codec !== 'age') throw new DomainError('PACK_INVALID', { why: 'codec', blob: frame.id })
  const isAge = AGE_HEAD.equals(stored.subarray(0, AGE_HEAD.length))
  if (!isAge || stored.length < AGE_OVERHEAD_BYTES)
    throw new DomainError('PACK_INVALID', { why: 'age', blob: frame.id })
}

async function decode(frame: FrameHeader, stored: Uint8Array): Promise<Uint8Array> {
  switch (frame.codec) {
    case 'raw':
      return stored
    case 'zstd':
      return await unpack(frame, stored)
    case 'age':
    case 'vault':
    case 'delta':
    case 'pieces':
      throw new DomainError('PACK_INVALID', { why: 'codec', blob: frame.id })
  }
}

async function unpack(frame: FrameHeader, stored: Uint8Array): Promise<Uint8Array> {
  const bytes = await unzstd(stored, frame.sizeBytes)
  if ('fault' in bytes) throw new DomainError('PACK_INVALID', { why: bytes.fault, blob: frame.id })
  return bytes
}
