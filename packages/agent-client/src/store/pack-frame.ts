import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import {
  type BlobId,
  type Codec,
  DomainError,
  isSealed,
  writeBlockHeader,
  writeFrameHeader,
} from '@turnback/core'
import { plainId, sealedId } from '#crypto/sealed-id.ts'
import { lockBytes, unlockBytes } from '#crypto/vault.ts'

const ZSTD_LEVEL = 3
/** Smaller files do not repay a zstd frame's head. */
const SMALLEST_ZSTD = 64

/** What the index is to know of a blob, beside the place of its frame. */
export interface BlobFacts {
  readonly id: BlobId
  readonly codec: Codec
  readonly sizeBytes: number
  /** Length of its bytes in the frame; in a block, of those that the unpacked block has of it. */
  readonly storedBytes: number
  /** Where its bytes begin in the unpacked block; null for a frame of its own. */
  readonly inner: number | null
  /** The blob that it is a delta against. */
  readonly base: BlobId | null
  /** How many deltas must be applied to have it. */
  readonly depth: number
}

/** What a pack takes at once: one blob, or a block of several. */
export interface Frame {
  readonly header: Uint8Array
  readonly body: Uint8Array
  /** Of the body, so that damage is found without unpacking it. */
  readonly crc: number
  readonly blobs: readonly BlobFacts[]
  /** Length of the unpacked block; null when this is no block. */
  readonly blockBytes: number | null
}

/** A frame of one whole blob. @param storeKey what sealed bytes are locked with at rest */
export function makeFrame(id: BlobId, content: Uint8Array, storeKey: () => Uint8Array): Frame {
  const { codec, body } = isSealed(id)
    ? { codec: 'vault' as const, body: lockBytes(storeKey(), id, content) }
    : compress(content)
  const sizes = { sizeBytes: content.length, storedBytes: body.length }
  const blobs = [{ id, codec, ...sizes, inner: null, base: null, depth: 0 }]
  return {
    header: writeFrameHeader({ id, codec, ...sizes }),
    body,
    crc: crc32(body),
    blobs,
    blockBytes: null,
  }
}

/** A frame of many blobs, whose bytes lie in `content` where `blobs` say. */
export function makeBlock(
  content: Uint8Array,
  blobs: readonly BlobFacts[],
  level: number = ZSTD_LEVEL,
): Frame {
  const body = compressBytes(content, level)
  const header = writeBlockHeader(content.length, body.length)
  return { header, body, crc: crc32(body), blobs, blockBytes: content.length }
}

export function compressBytes(content: Uint8Array, level: number = ZSTD_LEVEL): Uint8Array {
  return zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: level } })
}

function compress(content: Uint8Array): { codec: Codec; body: Uint8Array } {
  if (content.length >= SMALLEST_ZSTD) {
    const body = compressBytes(content)
    if (body.length < content.length) return { codec: 'zstd', body }
  }
  // A copy: what was read into may be read into again before this is written.
  return { codec: 'raw', body: new Uint8Array(content) }
}

/** The bytes of one zstd frame that are said to be `sizeBytes`; null when they can not be had. */
export function unpackBytes(stored: Uint8Array, sizeBytes: number): Uint8Array | null {
  try {
    // With room for all of it and one byte more it comes in one piece, in two thirds of the time.
    return zstdDecompressSync(stored, {
      maxOutputLength: Math.max(sizeBytes, 1),
      chunkSize: Math.max(sizeBytes + 1, 64),
    })
  } catch {
    return null
  }
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
      return orMismatch(id, unpackBytes(stored, sizeBytes))
    case 'vault':
      return orMismatch(id, unlockBytes(storeKey(), id, stored))
    case 'age':
    case 'delta':
    case 'pieces':
      throw new DomainError('BLOB_HASH_MISMATCH', { blob: id, why: `codec ${codec} is no frame's` })
  }
}

function orMismatch(id: BlobId, content: Uint8Array | null): Uint8Array {
  if (content === null) throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
  return content
}

/** True when `content` is what `id` names. Sealed ids need the key of their workspace. */
export function isNamed(id: BlobId, content: Uint8Array, idKeys: readonly Uint8Array[]): boolean {
  if (!isSealed(id)) return plainId(content) === id
  return idKeys.some((key) => sealedId(key, content) === id)
}
