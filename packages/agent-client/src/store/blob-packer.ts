import { applyDelta, type BlobId, encodeDelta, isSealed } from '@turnback/core'
import { BlockBuilder } from './block-builder.ts'
import { compressBytes, type Frame, makeFrame } from './pack-frame.ts'

/** Bigger files get a frame of their own: a block is opened whole for the sake of one. */
const MEMBER_BYTES = 64 * 1024
/** Deltas are made of files up to this size: both versions are in memory for it. */
export const DELTA_BYTES = 64 * 1024 * 1024
/** A smaller file costs nothing as it is. */
const SMALLEST_DELTA = 32
/** A delta is given up when it is longer than this part of the file … */
const LONGEST_DELTA = 0.6
/** … and taken without a closer look when it is shorter than this one: nothing is compressed that well. */
const SHORT_DELTA = 0.02
/** Reading through a delta has its price too: it must be this much smaller than the file itself is when packed. */
const WORTH_IT = 0.8

/** An earlier version of a file: its bytes, checked, and how many deltas are applied for them. */
export interface Base {
  readonly id: BlobId
  readonly content: Uint8Array
  readonly depth: number
}

export interface Packing {
  /** What sealed bytes are locked with at rest. */
  readonly storeKey: () => Uint8Array
  /** The blob that a new version of it is compared with, or null when there is none to be had. */
  findBase(previous: BlobId): Base | null
  /** Takes a frame that is ready to be written. */
  emit(frame: Frame): void
}

/** Makes frames of blobs: sealed and big ones each by itself, small ones and deltas together in blocks. */
export class BlobPacker {
  readonly #packing: Packing
  readonly #block = new BlockBuilder()

  constructor(packing: Packing) {
    this.#packing = packing
  }

  /** @param previous the blob that the same path had before; null when it had none */
  add(id: BlobId, content: Uint8Array, previous: BlobId | null): void {
    const delta = isSealed(id) || previous === null ? null : this.#makeDelta(content, previous)
    const facts = { id, sizeBytes: content.length }
    if (delta !== null) {
      const { base, bytes } = delta
      this.#addToBlock({ ...facts, codec: 'delta', base: base.id, depth: base.depth + 1 }, bytes)
    } else if (!isSealed(id) && content.length <= MEMBER_BYTES) {
      this.#addToBlock({ ...facts, codec: 'raw', base: null, depth: 0 }, content)
    } else {
      this.#packing.emit(makeFrame(id, content, this.#packing.storeKey))
    }
  }

  /** Emits what waits in the open block. */
  finish(): void {
    if (!this.#block.isEmpty) this.#packing.emit(this.#block.take())
  }

  #addToBlock(blob: Parameters<BlockBuilder['add']>[0], bytes: Uint8Array): void {
    this.#block.add(blob, bytes)
    if (this.#block.isFull) this.finish()
  }

  #makeDelta(content: Uint8Array, previous: BlobId): { base: Base; bytes: Uint8Array } | null {
    if (content.length < SMALLEST_DELTA || content.length > DELTA_BYTES) return null
    const base = this.#packing.findBase(previous)
    if (base === null) return null
    const bytes = encodeDelta(base.content, content, Math.floor(content.length * LONGEST_DELTA))
    if (bytes === null || !isWorthIt(bytes, content)) return null
    // What cannot be read back must not be all that is kept.
    const again = applyDelta(base.content, bytes, content.length)
    return again !== null && Buffer.compare(again, content) === 0 ? { base, bytes } : null
  }
}

function isWorthIt(delta: Uint8Array, content: Uint8Array): boolean {
  if (delta.length < content.length * SHORT_DELTA) return true
  return compressBytes(delta).length < compressBytes(content).length * WORTH_IT
}
