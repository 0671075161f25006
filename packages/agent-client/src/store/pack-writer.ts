import { closeSync, fdatasyncSync, ftruncateSync, openSync, rmSync, writeSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError, PACK_MAGIC } from '@turnback/core'
import type { Frame } from './pack-frame.ts'

/** Buffers are handed to the kernel when they hold this much. */
const SPILL_BYTES = 4 * 1024 * 1024
const VECTORS = 512

/** Where a frame's stored bytes lie in its pack. */
export interface Placed {
  readonly frame: Omit<Frame, 'header' | 'body'>
  readonly at: number
}

export interface FinishedPack {
  /** File name in the folder it was written in. */
  readonly name: string
  readonly bytes: number
  readonly placed: readonly Placed[]
}

/** Writes one new pack file, which nobody else writes to. Nothing of it counts until it is in the index. */
export class PackWriter {
  readonly #file: string
  readonly #name: string
  readonly #fd: number
  readonly #placed: Placed[] = []
  #buffers: Uint8Array[] = [Buffer.from(PACK_MAGIC, 'ascii')]
  #buffered = PACK_MAGIC.length
  #written = 0
  #finished: FinishedPack | null = null

  constructor(folder: string, name: string) {
    this.#name = name
    this.#file = join(folder, name)
    this.#fd = orStoreFull(() => openSync(this.#file, 'wx', 0o600))
  }

  add(frame: Frame): void {
    const at = this.#written + this.#buffered + frame.header.length
    this.#placed.push({ frame: withoutBytes(frame), at })
    this.#buffers.push(frame.header, frame.body)
    this.#buffered += frame.header.length + frame.body.length
    if (this.#buffered >= SPILL_BYTES) this.#spill()
  }

  /** A frame whose bytes come piece by piece; `pieces` gives false when they are not as was said. */
  addPieces(frame: Omit<Frame, 'body'>, pieces: (take: (piece: Uint8Array) => void) => boolean): boolean {
    this.#spill()
    const begin = this.#written
    const write = (piece: Uint8Array) => {
      writeAll(this.#fd, [piece], this.#written)
      this.#written += piece.length
    }
    write(frame.header)
    if (pieces(write) && this.#written - begin === frame.header.length + frame.storedBytes) {
      this.#placed.push({ frame: withoutBytes(frame), at: begin + frame.header.length })
      return true
    }
    this.#written = begin
    orStoreFull(() => ftruncateSync(this.#fd, begin))
    return false
  }

  /** Makes the pack durable. Repeatable. @throws STORE_FULL */
  finish(): FinishedPack {
    if (this.#finished !== null) return this.#finished
    this.#spill()
    orStoreFull(() => fdatasyncSync(this.#fd))
    closeSync(this.#fd)
    this.#finished = { name: this.#name, bytes: this.#written, placed: this.#placed }
    return this.#finished
  }

  abandon(): void {
    if (this.#finished === null) closeSync(this.#fd)
    rmSync(this.#file, { force: true })
  }

  #spill(): void {
    writeAll(this.#fd, this.#buffers, this.#written)
    this.#written += this.#buffered
    this.#buffers = []
    this.#buffered = 0
  }
}

function withoutBytes({ id, codec, sizeBytes, storedBytes }: Omit<Frame, 'body'>): Placed['frame'] {
  return { id, codec, sizeBytes, storedBytes }
}

/** Writes all buffers, one after the other, from `position`. @throws STORE_FULL */
export function writeAll(fd: number, buffers: readonly Uint8Array[], position: number): void {
  let at = position
  for (let i = 0; i < buffers.length; i += VECTORS) {
    const group = buffers.slice(i, i + VECTORS)
    const wanted = group.reduce((sum, part) => sum + part.length, 0)
    let written = orStoreFull(() => writevSync(fd, group, at))
    if (written < wanted) {
      // A short write: a signal, or the last block of a disk. Go on from there until it is all there or fails.
      const rest = Buffer.concat(group).subarray(written)
      for (let done = 0; done < rest.length; ) {
        const more = orStoreFull(() => writeSync(fd, rest, done, rest.length - done, at + written))
        done += more
        written += more
      }
    }
    at += wanted
  }
}

export function orStoreFull<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT')) {
      throw new DomainError('STORE_FULL', {}, { cause })
    }
    throw cause
  }
}
