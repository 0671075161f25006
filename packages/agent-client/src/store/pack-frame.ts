import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { type BlobId, type Codec, DomainError, isSealed, writeFrameHeader } from '@turnback/core'
import { plainId, sealedId } from '#crypto/sealed-id.ts'
import { lockBytes, unlockBytes } from '#crypto/vault.ts'

const ZSTD_LEVEL = 3
/** Smaller files do not repay a zstd frame's head. */
const SMALLEST_ZSTD = 64

/** One blob, ready to be written: `parts` are a pack frame's header and its stored bytes. */
export interface Frame {
  readonly id: BlobId
  readonly codec: Codec
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly header: Uint8Array
  readonly body: Uint8Array
}

/** @param storeKey what sealed bytes are locked with at rest */
export function makeFrame(id: BlobId, content: Uint8Array, storeKey: () => Uint8Array): Frame {
  const { codec, body } = isSealed(id)
    ? { codec: 'vault' as const, body: lockBytes(storeKey(), id, content) }
    : compress(content)
  const facts = { id, codec, sizeBytes: content.length, storedBytes: body.length }
  return { ...facts, header: writeFrameHeader(facts), body }
}

function compress(content: Uint8Array): { codec: Codec; body: Uint8Array } {
  if (content.length >= SMALLEST_ZSTD) {
    const body = zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
    if (body.length < content.length) return { codec: 'zstd', body }
  }
  return { codec: 'raw', body: content }
}

/** The bytes of a frame, not yet compared with its id. @throws BLOB_HASH_MISMATCH when they can not be had */
export function openFrame(
  id: BlobId,
  codec: Codec,
  stored: Uint8Array,
  sizeBytes: number,
  storeKey: () => Uint8Array,
): Uint8Array {
  switch (codec) {
    case 'raw':
      return stored
    case 'zstd':
      try {
        return zstdDecompressSync(stored, { maxOutputLength: Math.max(sizeBytes, 1) })
      } catch (cause) {
        throw new DomainError('BLOB_HASH_MISMATCH', { blob: id }, { cause })
      }
    case 'vault': {
      const content = unlockBytes(storeKey(), id, stored)
      if (content === null) throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
      return content
    }
    case 'age':
    case 'delta':
    case 'pieces':
      throw new DomainError('BLOB_HASH_MISMATCH', { blob: id, why: `codec ${codec} is not known here` })
  }
}

/** True when `content` is what `id` names. Sealed ids need the key of their workspace. */
export function isNamed(id: BlobId, content: Uint8Array, idKeys: readonly Uint8Array[]): boolean {
  if (!isSealed(id)) return plainId(content) === id
  return idKeys.some((key) => sealedId(key, content) === id)
}
