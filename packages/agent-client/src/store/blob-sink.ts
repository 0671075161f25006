import { fstatSync, readSync } from 'node:fs'
import { type BlobId, isSealed, limits, type WorkspaceId } from '@turnback/core'
import { plainId, sealedId, startNaming } from '#crypto/sealed-id.ts'
import { BIG_BYTES, PIECE_BYTES, readFilePieces, storeBig } from './big-blob.ts'
import { type Base, BlobPacker, DELTA_BYTES } from './blob-packer.ts'
import type { Frame } from './pack-frame.ts'
import type { PackWriter } from './pack-writer.ts'

export interface Named {
  readonly blob: BlobId
  readonly sizeBytes: number
}

export interface SinkParts {
  readonly storeKey: () => Uint8Array
  /** The key under which a workspace's sealed blobs are named. */
  idKey(workspace: WorkspaceId): Uint8Array
  /** True when the bytes are stored already, or were given to this sink. */
  has(id: BlobId): boolean
  findBase(previous: BlobId): Base | null
  emit(frame: Frame): void
  /** The pack that bytes go into which come in pieces. */
  openWriter(): PackWriter
  /** Told of each blob that was given out to be written. */
  added(id: BlobId): void
}

/** The way of bytes into packs: named, looked up, and packed when they are new. The same here and in worker threads. */
export class BlobSink {
  readonly #parts: SinkParts
  readonly #packer: BlobPacker
  /** Files are read into it, one after the other. */
  #buffer = Buffer.alloc(0)

  constructor(parts: SinkParts) {
    this.#parts = parts
    this.#packer = new BlobPacker(parts)
  }

  idOf(workspace: WorkspaceId, content: Uint8Array, sealed: boolean): BlobId {
    return sealed ? sealedId(this.#parts.idKey(workspace), content) : plainId(content)
  }

  put(workspace: WorkspaceId, content: Uint8Array, sealed: boolean, previous: BlobId | null): BlobId {
    const id = this.idOf(workspace, content, sealed)
    if (this.#parts.has(id)) return id
    this.#packer.add(id, content, previous)
    this.#parts.added(id)
    return id
  }

  /** Bytes of a file that grew while it was read are named, not stored: the caller reads it again. */
  putOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean, previous: BlobId | null): Named {
    const expected = fstatSync(fd).size
    const isWhole =
      expected <= BIG_BYTES ||
      (previous !== null && !sealed && expected <= DELTA_BYTES && !isSealed(previous))
    if (!isWhole) return this.#putBig(workspace, fd, sealed)
    const content = this.#readWhole(fd, expected)
    const sizeBytes = content.length
    if (sizeBytes !== expected) return { blob: this.idOf(workspace, content, sealed), sizeBytes }
    return { blob: this.put(workspace, content, sealed, previous), sizeBytes }
  }

  /** The name that an open file's bytes would have. */
  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): Named {
    const idKey = sealed ? this.#parts.idKey(workspace) : null
    const { size } = fstatSync(fd)
    const naming = startNaming(idKey, size)
    const buffer = this.#reserve(Math.min(size + 1, PIECE_BYTES))
    const sizeBytes = readFilePieces(fd, (piece) => naming.update(piece), buffer)
    return { blob: naming.finish(), sizeBytes }
  }

  /** Gives out what waits for more of its kind. */
  finish(): void {
    this.#packer.finish()
  }

  #putBig(workspace: WorkspaceId, fd: number, sealed: boolean): Named {
    const named = this.idOfOpenFile(workspace, fd, sealed)
    const { blob, sizeBytes } = named
    // Longer than a frame can say: it grew, and whoever asked looks at it again.
    if (sizeBytes > limits.blobBytes || this.#parts.has(blob)) return named
    const idKey = sealed ? this.#parts.idKey(workspace) : null
    const big = { id: blob, sizeBytes, idKey }
    if (storeBig(this.#parts.openWriter(), fd, big, this.#parts.storeKey)) this.#parts.added(blob)
    // It was written to in between: any other length says so to the caller.
    else return { blob, sizeBytes: -1 }
    return named
  }

  /** Reads one byte more than there should be, to see whether there is. The bytes are good until the next call. */
  #readWhole(fd: number, expected: number): Uint8Array {
    const buffer = expected < BIG_BYTES ? this.#reserve(expected + 1) : Buffer.allocUnsafe(expected + 1)
    let length = 0
    while (length <= expected) {
      const count = readSync(fd, buffer, length, expected + 1 - length, length)
      if (count === 0) break
      length += count
    }
    return buffer.subarray(0, length)
  }

  #reserve(bytes: number): Buffer {
    if (this.#buffer.length < bytes) this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024))
    return this.#buffer
  }
}
