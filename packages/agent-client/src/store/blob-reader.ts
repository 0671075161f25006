import { applyDelta, type BlobId, DomainError, isSealed } from '@turnback/core'
import { BIG_BYTES, type BigSource, readBig } from './big-blob.ts'
import type { BlobIndex, BlobPlace } from './blob-index.ts'
import type { Base } from './blob-packer.ts'
import { isNamed, openFrame, unpackBytes } from './pack-frame.ts'
import type { PackReader } from './pack-reader.ts'

/** A version that stands on this many deltas is followed by one against the oldest of them, or by a whole one. */
const DEEPEST = 16
/** Unpacked blocks that are kept: what lies together is mostly read together, a kind of file to a block. */
const KEPT_BLOCK_BYTES = 32 * 1024 * 1024

export interface ReaderParts {
  readonly index: BlobIndex
  readonly packs: Pick<PackReader, 'readAt' | 'close'>
  readonly storeKey: () => Uint8Array
  /** Keys under which sealed blobs may be named. */
  readonly idKeys: () => readonly Uint8Array[]
  /** What the index tells from here on is as it stands now, also where many reads share one look at it. */
  readonly lookAgain: () => void
}

export interface BlobMember {
  readonly place: BlobPlace
  readonly bytes: Uint8Array
}

/** Reads blobs that are listed in the index: out of frames, blocks and through deltas. */
export class BlobReader {
  readonly #parts: ReaderParts
  readonly #blocks = new Map<string, Uint8Array>()
  #blockBytes = 0

  constructor(parts: ReaderParts) {
    this.#parts = parts
  }

  /** The bytes, checked against their id. @throws BLOB_NOT_FOUND, BLOB_HASH_MISMATCH */
  read(id: BlobId): Uint8Array {
    return this.#twice(() => {
      const content = this.#resolve(this.#getPlace(id))
      if (!isNamed(id, content, this.#idKeysFor(id)))
        throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
      return content
    })
  }

  /** The same piece by piece, in memory of a few MiB. Throws after the last piece when they did not fit the id. */
  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void {
    const place = this.#parts.index.find(id)
    if (place === null || place.inner !== null || place.sizeBytes <= BIG_BYTES) {
      take(this.read(id))
      return
    }
    let taken = 0
    const count = (piece: Uint8Array) => {
      taken += piece.length
      take(piece)
    }
    try {
      readBig(place, this.#sourceOf(place), count)
    } catch (error) {
      // Its pack was rewritten before it was opened: nothing was given away yet, so it can be looked for again.
      this.#parts.lookAgain()
      const moved = this.#parts.index.find(id)
      const isElsewhere = moved !== null && (moved.pack !== place.pack || moved.at !== place.at)
      if (!(error instanceof DomainError) || taken > 0 || !isElsewhere) throw error
      this.forget()
      readBig(moved, this.#sourceOf(moved), take)
    }
  }

  /** What a block holds of a blob: its content, or what makes it of its base. Checked by the whole. */
  readMember(id: BlobId): BlobMember {
    return this.#twice(() => {
      const place = this.#getPlace(id)
      const content = this.#resolve(place)
      if (!isNamed(id, content, this.#idKeysFor(id))) throw mismatch(id)
      return { place, bytes: place.base === null ? content : this.#readStored(place).slice() }
    })
  }

  /** What a new version of this blob is compared with. Null when it can not be read: then the new one is kept whole. */
  findBase(previous: BlobId): Base | null {
    if (isSealed(previous)) return null
    try {
      const place = this.#getPlace(previous)
      const base = place.depth < DEEPEST ? place : this.#findRoot(place)
      return { id: base.id, content: this.read(base.id), depth: base.depth }
    } catch (error) {
      if (error instanceof DomainError || (error instanceof Error && 'syscall' in error)) return null
      throw error
    }
  }

  /** Forgets unpacked blocks and opened packs. */
  forget(): void {
    this.#blocks.clear()
    this.#blockBytes = 0
    this.#parts.packs.close()
  }

  #findRoot(place: BlobPlace): BlobPlace {
    let at = place
    for (let i = 0; i <= DEEPEST && at.base !== null; i++) at = this.#getPlace(at.base)
    return at
  }

  #getPlace(id: BlobId): BlobPlace {
    const place = this.#parts.index.find(id)
    if (place === null) throw new DomainError('BLOB_NOT_FOUND', { blob: id })
    return place
  }

  /** Packs are rewritten and removed meanwhile: what was remembered of them may be old, once. */
  #twice<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      this.forget()
      this.#parts.lookAgain()
      return work()
    }
  }

  #idKeysFor(id: BlobId): readonly Uint8Array[] {
    return isSealed(id) ? this.#parts.idKeys() : []
  }

  /** Follows a chain of deltas down to a whole blob, and applies them on the way back. */
  #resolve(place: BlobPlace): Uint8Array {
    const deltas: { readonly place: BlobPlace; readonly bytes: Uint8Array }[] = []
    let at = place
    while (at.base !== null) {
      if (deltas.length > DEEPEST) throw mismatch(place.id)
      deltas.push({ place: at, bytes: this.#readStored(at) })
      at = this.#getPlace(at.base)
    }
    let content = this.#readWhole(at)
    for (const delta of deltas.reverse()) {
      const next = applyDelta(content, delta.bytes, delta.place.sizeBytes)
      if (next === null) throw mismatch(place.id)
      content = next
    }
    return content
  }

  #readWhole(place: BlobPlace): Uint8Array {
    const { id, codec, sizeBytes } = place
    if (codec === 'pieces') return this.#joinPieces(place)
    const content = openFrame(id, codec, this.#readStored(place), sizeBytes, this.#parts.storeKey)
    if (content.length !== sizeBytes) throw mismatch(id)
    // What is kept of a block is given to nobody.
    return place.inner === null ? content : new Uint8Array(content)
  }

  #joinPieces(place: BlobPlace): Uint8Array {
    const whole = new Uint8Array(place.sizeBytes)
    let length = 0
    readBig(place, this.#sourceOf(place), (piece) => {
      whole.set(piece, length)
      length += piece.length
    })
    return whole
  }

  #sourceOf(place: BlobPlace): BigSource {
    const { packs, storeKey } = this.#parts
    return {
      readAt: (at, into) => packs.readAt(place.pack, place.at + at, into),
      storeKey,
      idKeys: this.#idKeysFor(place.id),
    }
  }

  #readStored(place: BlobPlace): Uint8Array {
    const { pack, at, inner, storedBytes } = place
    if (inner !== null) {
      const block = this.#openBlock(place)
      if (inner + storedBytes > block.length) throw mismatch(place.id)
      return block.subarray(inner, inner + storedBytes)
    }
    const stored = new Uint8Array(storedBytes)
    this.#parts.packs.readAt(pack, at, stored)
    return stored
  }

  #openBlock({ id, pack, at }: BlobPlace): Uint8Array {
    const key = `${pack}:${at}`
    const kept = this.#blocks.get(key)
    if (kept !== undefined) {
      // The one that was not used for longest goes first.
      this.#blocks.delete(key)
      this.#blocks.set(key, kept)
      return kept
    }
    const sizes = this.#parts.index.findBlock(pack, at)
    if (sizes === null) throw new DomainError('BLOB_NOT_FOUND', { blob: id })
    const stored = new Uint8Array(sizes.storedBytes)
    this.#parts.packs.readAt(pack, at, stored)
    const block = unpackBytes(stored, sizes.sizeBytes)
    if (block === null || block.length !== sizes.sizeBytes) throw mismatch(id)
    for (const [oldest, { length }] of this.#blocks) {
      if (this.#blockBytes + block.length <= KEPT_BLOCK_BYTES) break
      this.#blocks.delete(oldest)
      this.#blockBytes -= length
    }
    this.#blocks.set(key, block)
    this.#blockBytes += block.length
    return block
  }
}

function mismatch(id: BlobId): DomainError {
  return new DomainError('BLOB_HASH_MISMATCH', { blob: id })
}
