import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { type BlobId, DomainError, isSealed, writeFrameHeader } from '@turnback/core'
import { startNaming } from '#crypto/sealed-id.ts'
import { NONCE_BYTES, startLocking, startUnlocking, TAG_BYTES } from '#crypto/vault.ts'
import type { BlobPlace } from './blob-index.ts'
import { compressBytes, unpackBytes } from './pack-frame.ts'
import type { PackWriter, StreamedFrame } from './pack-writer.ts'

/** Files up to this size are read whole; of bigger ones there is never more than a piece in memory. */
export const BIG_BYTES = 8 * 1024 * 1024
export const PIECE_BYTES = 1024 * 1024
/** Length before each piece. */
const PREFIX_BYTES = 4

export type TakePiece = (piece: Uint8Array) => void

/**
 * Calls `take` with an open file's bytes; each piece but the last is whole. Gives how many bytes there were.
 * @param buffer what is read into, over and over: a piece is as long as this
 */
export function readFilePieces(
  fd: number,
  take: TakePiece,
  buffer: Uint8Array = Buffer.allocUnsafe(PIECE_BYTES),
): number {
  let at = 0
  for (;;) {
    let length = 0
    while (length < buffer.length) {
      const count = readSync(fd, buffer, length, buffer.length - length, at + length)
      if (count === 0) break
      length += count
    }
    if (length > 0) take(buffer.subarray(0, length))
    at += length
    if (length < buffer.length) return at
  }
}

export interface BigBlob {
  readonly id: BlobId
  readonly sizeBytes: number
  /** What it is named under; null for a plain one. */
  readonly idKey: Uint8Array | null
}

/** Writes an open file's bytes into a pack, piece by piece. False when they were not what `blob` says. */
export function storeBig(writer: PackWriter, fd: number, blob: BigBlob, storeKey: () => Uint8Array): boolean {
  const { id, sizeBytes, idKey } = blob
  const codec = idKey === null ? ('pieces' as const) : ('vault' as const)
  const facts = { id, codec, sizeBytes, inner: null, base: null, depth: 0 }
  const headerBytes = writeFrameHeader({ ...facts, storedBytes: 0 }).length
  return writer.addStream(headerBytes, (write): StreamedFrame | null => {
    const naming = startNaming(idKey, sizeBytes)
    let storedBytes = 0
    let crc = 0
    const body = (bytes: Uint8Array) => {
      write(bytes)
      storedBytes += bytes.length
      crc = crc32(bytes, crc)
    }
    const end = idKey === null ? startPieces(body) : startVault(body, storeKey(), id)
    const length = readFilePieces(fd, (piece) => {
      naming.update(piece)
      end.piece(piece)
    })
    if (length !== sizeBytes || naming.finish() !== id) return null
    end.finish()
    return { header: writeFrameHeader({ ...facts, storedBytes }), blob: { ...facts, storedBytes }, crc }
  })
}

interface PieceWriter {
  piece(piece: Uint8Array): void
  finish(): void
}

function startPieces(body: TakePiece): PieceWriter {
  return {
    piece(piece) {
      const packed = compressBytes(piece)
      const stored = packed.length < piece.length ? packed : piece
      const prefix = Buffer.alloc(PREFIX_BYTES)
      prefix.writeUInt32BE(stored.length)
      body(prefix)
      body(stored)
    },
    finish() {},
  }
}

function startVault(body: TakePiece, storeKey: Uint8Array, id: BlobId): PieceWriter {
  const { nonce, cipher } = startLocking(storeKey, id)
  body(nonce)
  return {
    piece: (piece) => body(cipher.update(piece)),
    finish() {
      const rest = cipher.final()
      if (rest.length > 0) body(rest)
      body(cipher.getAuthTag())
    },
  }
}

export interface BigSource {
  /** Reads stored bytes, from the beginning of the frame's body. */
  readAt(at: number, into: Uint8Array): void
  readonly storeKey: () => Uint8Array
  readonly idKeys: readonly Uint8Array[]
}

/** Calls `take` with a big blob's bytes. Throws after the last piece when they did not fit the id. */
export function readBig(place: BlobPlace, from: BigSource, take: TakePiece): void {
  const keys = isSealed(place.id) ? from.idKeys : [null]
  const namings = keys.map((key) => startNaming(key, place.sizeBytes))
  let length = 0
  const takeNamed = (piece: Uint8Array) => {
    for (const naming of namings) naming.update(piece)
    length += piece.length
    take(piece)
  }
  unpackBig(place, from, takeNamed)
  const isNamed = namings.some((naming) => naming.finish() === place.id)
  if (length !== place.sizeBytes || !isNamed) throw mismatch(place.id)
}

function unpackBig(place: BlobPlace, from: BigSource, take: TakePiece): void {
  switch (place.codec) {
    case 'pieces':
      unpackPieces(place, from, take)
      break
    case 'vault':
      unlockPieces(place, from, take)
      break
    case 'raw':
      copyPieces(from, 0, place.storedBytes, take)
      break
    case 'zstd': {
      const stored = new Uint8Array(place.storedBytes)
      from.readAt(0, stored)
      take(orMismatch(place.id, unpackBytes(stored, place.sizeBytes)))
      break
    }
    case 'age':
    case 'delta':
      throw mismatch(place.id)
  }
}

function unpackPieces({ id, sizeBytes, storedBytes }: BlobPlace, from: BigSource, take: TakePiece): void {
  const prefix = Buffer.alloc(PREFIX_BYTES)
  let at = 0
  for (let made = 0; made < sizeBytes; ) {
    const pieceBytes = Math.min(PIECE_BYTES, sizeBytes - made)
    if (at + PREFIX_BYTES > storedBytes) throw mismatch(id)
    from.readAt(at, prefix)
    at += PREFIX_BYTES
    const length = prefix.readUInt32BE()
    if (length > pieceBytes || at + length > storedBytes) throw mismatch(id)
    const stored = new Uint8Array(length)
    from.readAt(at, stored)
    at += length
    const piece = length === pieceBytes ? stored : orMismatch(id, unpackBytes(stored, pieceBytes))
    if (piece.length !== pieceBytes) throw mismatch(id)
    take(piece)
    made += pieceBytes
  }
}

/** What is given out is not yet known to be whole: the tag, and then the name, tell at the end. */
function unlockPieces({ id, storedBytes }: BlobPlace, from: BigSource, take: TakePiece): void {
  if (storedBytes < NONCE_BYTES + TAG_BYTES) throw mismatch(id)
  const nonce = new Uint8Array(NONCE_BYTES)
  const tag = new Uint8Array(TAG_BYTES)
  from.readAt(0, nonce)
  from.readAt(storedBytes - TAG_BYTES, tag)
  const decipher = startUnlocking(from.storeKey(), id, nonce, tag)
  copyPieces(from, NONCE_BYTES, storedBytes - TAG_BYTES, (piece) => take(decipher.update(piece)))
  try {
    const rest = decipher.final()
    if (rest.length > 0) take(rest)
  } catch (cause) {
    throw new DomainError('BLOB_HASH_MISMATCH', { blob: id }, { cause })
  }
}

function copyPieces(from: BigSource, begin: number, end: number, take: TakePiece): void {
  for (let at = begin; at < end; at += PIECE_BYTES) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at))
    from.readAt(at, piece)
    take(piece)
  }
}

function orMismatch(id: BlobId, bytes: Uint8Array | null): Uint8Array {
  if (bytes === null) throw mismatch(id)
  return bytes
}

function mismatch(id: BlobId): DomainError {
  return new DomainError('BLOB_HASH_MISMATCH', { blob: id })
}
