import { closeSync, fdatasyncSync, ftruncateSync, openSync, rmSync, writeSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError, PACK_MAGIC } from '@turnback/core'
import type { BlobFacts, Frame } from './pack-frame.ts'

/** Buffers are handed to the kernel when they hold this much. */
const SPILL_BYTES = 4 * 1024 * 1024
const VECTORS = 512

/** A blob in a pack. `at`: where the stored bytes of its frame or block begin. */
export interface PlacedBlob extends BlobFacts {
  readonly at: number
  /** Of the stored bytes of its own frame; null in a block, which has one for all. */
  readonly crc: number | null
}

export interface PlacedBlock {
  readonly at: number
  readonly sizeBytes: number
  readonly storedBytes: number
  readonly crc: number
}

/** Where the frames of one pack lie. */
export interface Placed {
  readonly blobs: readonly PlacedBlob[]
  readonly blocks: readonly PlacedBlock[]
}

export interface FinishedPack extends Placed {
  /** File name in the folder it was written in. */
  readonly name: string
  readonly bytes: number
}

/** What is known of a frame once its last piece is written. */
export interface StreamedFrame {
  readonly header: Uint8Array
  readonly blob: BlobFacts
  readonly crc: number
}

/** Notes where frames come to lie. */
export class Placing implements Placed {
  readonly blobs: PlacedBlob[] = []
  readonly blocks: PlacedBlock[] = []

  /** @param at where the frame's header begins; gives where its body ends */
  add(frame: Frame, at: number): number {
    const begin = at + frame.header.length
    const isBlock = frame.blockBytes !== null
    for (const blob of frame.blobs) this.blobs.push({ ...blob, at: begin, crc: isBlock ? null : frame.crc })
    if (frame.blockBytes !== null) {
      const sizes = { sizeBytes: frame.blockBytes, storedBytes: frame.body.length }
      this.blocks.push({ at: begin, ...sizes, crc: frame.crc })
    }
    return begin + frame.body.length
  }
}

/** Writes one new pack file, which nobody else writes to. Nothing of it counts until it is in the index. */
export class PackWriter {
  readonly #file: string
  readonly #name: string
  readonly #fd: number
  readonly #placing = new Placing()
  #buffers: Uint8Array[] = [Buffer.from(PACK_MAGIC, 'ascii')]
  #buffered = PACK_MAGIC.length
  #written = 0
  #finished: FinishedPack | null = null
  #isOpen = true

  /** @throws STORE_FULL, NOT_RECORDED */
  constructor(folder: string, name: string) {
    this.#name = name
    this.#file = join(folder, name)
    this.#fd = orStoreFault(() => openSync(this.#file, 'wx', 0o600))
  }

  /** Length of the pack so far. */
  get bytes(): number {
    return this.#written + this.#buffered
  }

  add(frame: Frame): void {
    this.#placing.add(frame, this.bytes)
    this.#buffers.push(frame.header, frame.body)
    this.#buffered += frame.header.length + frame.body.length
    if (this.#buffered >= SPILL_BYTES) this.#spill()
  }

  /**
   * A frame whose bytes come piece by piece. `produce` writes them, and gives what they are once they are all there,
   * or null when they are not as was said: then they are taken back.
   */
  addStream(
    headerBytes: number,
    produce: (write: (piece: Uint8Array) => void) => StreamedFrame | null,
  ): boolean {
    this.#spill()
    const begin = this.#written
    this.#written += headerBytes
    let frame: StreamedFrame | null = null
    try {
      frame = produce((piece) => {
        writeAll(this.#fd, [piece], this.#written)
        this.#written += piece.length
      })
      if (frame !== null) {
        writeAll(this.#fd, [frame.header], begin)
        this.#placing.blobs.push({ ...frame.blob, at: begin + headerBytes, crc: frame.crc })
      }
    } finally {
      if (frame === null) {
        this.#written = begin
        orStoreFault(() => ftruncateSync(this.#fd, begin))
      }
    }
    return frame !== null
  }

  /** Frames as they are, header and all, for who notes himself where they lie. `produce` gives false when it could not. */
  addBytes(produce: (write: (piece: Uint8Array) => void) => boolean): boolean {
    this.#spill()
    return produce((piece) => {
      writeAll(this.#fd, [piece], this.#written)
      this.#written += piece.length
    })
  }

  /** Makes the pack durable. Repeatable. @throws STORE_FULL, NOT_RECORDED */
  finish(): FinishedPack {
    if (this.#finished !== null) return this.#finished
    this.#spill()
    orStoreFault(() => fdatasyncSync(this.#fd))
    this.#close()
    const { blobs, blocks } = this.#placing
    this.#finished = { name: this.#name, bytes: this.#written, blobs, blocks }
    return this.#finished
  }

  abandon(): void {
    this.#close()
    rmSync(this.#file, { force: true })
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#fd)
    this.#isOpen = false
  }

  #spill(): void {
    writeAll(this.#fd, this.#buffers, this.#written)
    this.#written += this.#buffered
    this.#buffers = []
    this.#buffered = 0
  }
}

/** Writes all buffers, one after the other, from `position`. @throws STORE_FULL, NOT_RECORDED */
export function writeAll(fd: number, buffers: readonly Uint8Array[], position: number): void {
  let at = position
  for (let i = 0; i < buffers.length; i += VECTORS) {
    const group = buffers.slice(i, i + VECTORS)
    const wanted = group.reduce((sum, part) => sum + part.length, 0)
    let written = orStoreFault(() => writevSync(fd, group, at))
    if (written < wanted) {
      // A short write: a signal, or the last block of a disk. Go on from there until it is all there or fails.
      const rest = Buffer.concat(group).subarray(written)
      for (let done = 0; done < rest.length; ) {
        const more = orStoreFault(() => writeSync(fd, rest, done, rest.length - done, at + written))
        done += more
        written += more
      }
    }
    at += wanted
  }
}

/**
 * What the system says of the store's own files, as an error of the catalogue: it must never be taken for the fault
 * of a file that is being captured.
 */
export function orStoreFault<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && 'syscall' in cause)) throw cause
    const { code } = cause
    const where = 'path' in cause ? { path: String(cause.path) } : {}
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new DomainError('STORE_FULL', where, { cause })
    throw new DomainError('NOT_RECORDED', { why: String(code), ...where }, { cause })
  }
}
