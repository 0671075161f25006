import { constants, zstdCompressSync } from 'node:zlib'
import { type BlobId, isSealed, limits, PACK_MAGIC, writeFrameHeader } from '@turnback/core'
import { paddedSize, sealForPush } from '#crypto/seal.ts'
import type { BlobStore } from '#ports.ts'
import { sha256Hex } from './request-signature.ts'

/** One body to send. Its pieces are never copied together. */
export interface Pack {
  /** Hex SHA-256 of the whole body. */
  readonly id: string
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
  readonly blobs: readonly BlobId[]
}

export interface PackSource {
  readonly blobs: Pick<BlobStore, 'read'>
  /** `age1…` of everyone that sealed blobs are sealed to. */
  readonly recipients: readonly string[]
  /** A pack holds this much at most, or exactly one frame. */
  readonly packBytes?: number
}

const MAGIC = Buffer.from(PACK_MAGIC, 'latin1')
const ZSTD_LEVEL = 3

/**
 * Makes packs of these blobs one after the other: no more than one, and one frame, is in memory at a time. Plain
 * blobs become zstd frames, sealed ones age files; what the store keeps for itself (vault, delta) never leaves.
 * @throws BLOB_NOT_FOUND, BLOB_HASH_MISMATCH with the blob's id in the details
 */
export async function* buildPacks(ids: Iterable<BlobId>, source: PackSource): AsyncGenerator<Pack> {
  const budget = source.packBytes ?? limits.packBytes
  let open = emptyPack()
  for (const id of ids) {
    const frame = await makeFrame(id, source)
    const frameBytes = frame.header.length + frame.stored.length
    if (open.blobs.length > 0 && open.bytes + frameBytes > budget) {
      yield sealPack(open)
      open = emptyPack()
    }
    open.pieces.push(frame.header, frame.stored)
    open.bytes += frameBytes
    open.blobs.push(id)
  }
  if (open.blobs.length > 0) yield sealPack(open)
}

interface OpenPack {
  pieces: Uint8Array[]
  bytes: number
  blobs: BlobId[]
}

function emptyPack(): OpenPack {
  return { pieces: [MAGIC], bytes: MAGIC.length, blobs: [] }
}

function sealPack(open: OpenPack): Pack {
  return { ...open, id: sha256Hex(open.pieces) }
}

async function makeFrame(
  id: BlobId,
  source: PackSource,
): Promise<{ header: Uint8Array; stored: Uint8Array }> {
  const content = source.blobs.read(id)
  if (isSealed(id)) {
    const stored = await sealForPush(source.recipients, content)
    // The length with its padding: the exact one would tell what the padding hides.
    const sizeBytes = paddedSize(content.length)
    return {
      header: writeFrameHeader({ id, codec: 'age', sizeBytes, storedBytes: stored.length }),
      stored,
    }
  }
  const stored = compress(content)
  const sizes = { sizeBytes: content.length, storedBytes: stored.length }
  return { header: writeFrameHeader({ id, codec: 'zstd', ...sizes }), stored }
}

function compress(content: Uint8Array): Uint8Array {
  return zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
}
