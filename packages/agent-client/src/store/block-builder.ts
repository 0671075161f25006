import type { BlobFacts, Frame } from './pack-frame.ts'
import { makeBlock } from './pack-frame.ts'

/**
 * A block is written when it holds this much. Bigger ones pack better, and take longer to open for the sake of one
 * blob: this is opened in half a millisecond, and packs nearly as well as git does with its deltas.
 */
const BLOCK_BYTES = 256 * 1024

/** Collects the bytes of small blobs until they make a block. */
export class BlockBuilder {
  #bytes = new Uint8Array(0)
  #length = 0
  #blobs: BlobFacts[] = []

  get isEmpty(): boolean {
    return this.#blobs.length === 0
  }

  get isFull(): boolean {
    return this.#length >= BLOCK_BYTES
  }

  /** Copies the bytes. */
  add(blob: Omit<BlobFacts, 'storedBytes' | 'inner'>, bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#blobs.push({ ...blob, storedBytes: bytes.length, inner: this.#length })
    this.#length += bytes.length
  }

  take(): Frame {
    const block = makeBlock(this.#bytes.subarray(0, this.#length), this.#blobs)
    this.#length = 0
    this.#blobs = []
    // One that a long delta had made bigger is not kept.
    if (this.#bytes.length > 2 * BLOCK_BYTES) this.#bytes = new Uint8Array(0)
    return block
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#bytes.length) return
    // Little at first: a turn of a few small files fills no block.
    const larger = new Uint8Array(Math.max(needed, Math.min(4 * needed, 2 * BLOCK_BYTES)))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
