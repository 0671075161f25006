import { createHash } from 'node:crypto'
import { fstatSync, readSync } from 'node:fs'
import {
  type BlobId,
  CODECS,
  type Codec,
  DomainError,
  invariant,
  isSealed,
  type WorkspaceId,
  writeFrameHeader,
} from '@turnback/core'
import { plainId, sealedId } from '#crypto/sealed-id.ts'
import type { BlobStore } from '#ports.ts'
import type { Database } from './database.ts'
import type { PackFolder } from './pack-folder.ts'
import { type Frame, isNamed, makeFrame, openFrame } from './pack-frame.ts'
import type { FinishedPack, PackWriter, Placed } from './pack-writer.ts'
import { bytes, integer, type Row } from './rows.ts'

/** Frames that wait in memory for the next flush; above this they go to a pack of their own at once. */
const WAITING_BYTES = 8 * 1024 * 1024
/** Files up to this size are read whole and compressed; bigger ones go through in pieces, as they are. */
const WHOLE_BYTES = 64 * 1024 * 1024
const PIECE_BYTES = 1024 * 1024

const CODEC_NAMES = new Map<number, Codec>([
  [CODECS.raw, 'raw'],
  [CODECS.zstd, 'zstd'],
  [CODECS.vault, 'vault'],
])

export class PackedBlobs implements BlobStore {
  readonly #db: Database
  readonly #folder: PackFolder
  readonly #storeKey: () => Uint8Array
  readonly #idKeys = new Map<WorkspaceId, Uint8Array>()
  #waiting = new Map<BlobId, Frame>()
  #waitingBytes = 0
  #writer: PackWriter | null = null
  /** Ids in the writer, with what it takes to read them again. */
  #spilled = new Set<BlobId>()
  #handedOver: FinishedPack[] = []

  constructor(db: Database, folder: PackFolder, storeKey: () => Uint8Array) {
    this.#db = db
    this.#folder = folder
    this.#storeKey = storeKey
  }

  put(workspace: WorkspaceId, content: Uint8Array, sealed: boolean): BlobId {
    const id = this.idOf(workspace, content, sealed)
    if (!this.has(id)) this.#orDiscard(() => this.#add(makeFrame(id, content, this.#storeKey)))
    return id
  }

  putOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number } {
    if (sealed || fstatSync(fd).size <= WHOLE_BYTES) {
      const content = readWhole(fd)
      return { blob: this.put(workspace, content, sealed), sizeBytes: content.length }
    }
    const { blob, sizeBytes } = this.idOfOpenFile(workspace, fd, false)
    if (this.has(blob)) return { blob, sizeBytes }
    const facts = { id: blob, codec: 'raw' as const, sizeBytes, storedBytes: sizeBytes }
    const frame = { ...facts, header: writeFrameHeader(facts) }
    const isSame = this.#orDiscard(() =>
      this.#startWriter().addPieces(frame, (take) => hashPieces(fd, take).blob === blob),
    )
    if (!isSame) throw new DomainError('BLOB_HASH_MISMATCH', { blob })
    this.#spilled.add(blob)
    return { blob, sizeBytes }
  }

  has(id: BlobId): boolean {
    return this.#waiting.has(id) || this.#spilled.has(id) || this.#findRow(id) !== undefined
  }

  findSize(id: BlobId): number | null {
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) return waiting.sizeBytes
    this.#flushIfSpilled(id)
    const row = this.#findRow(id)
    return row === undefined ? null : integer(row, 'size')
  }

  read(id: BlobId): Uint8Array {
    const { codec, stored, sizeBytes } = this.#readStored(id)
    const content = openFrame(id, codec, stored, sizeBytes, this.#storeKey)
    if (content.length !== sizeBytes || !isNamed(id, content, this.#keysFor(id))) {
      throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
    }
    return content
  }

  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void {
    this.#flushIfSpilled(id)
    const row = this.#findRow(id)
    if (row === undefined || codecOf(row) !== 'raw' || integer(row, 'size') <= WHOLE_BYTES) {
      take(this.read(id))
      return
    }
    const hash = createHash('sha256')
    const end = integer(row, 'stored')
    for (let at = 0; at < end; at += PIECE_BYTES) {
      const piece = new Uint8Array(Math.min(PIECE_BYTES, end - at))
      this.#folder.readAt(integer(row, 'pack'), integer(row, 'at') + at, piece)
      hash.update(piece)
      take(piece)
    }
    if (`p${hash.digest('hex')}` !== id) throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
  }

  idOf(workspace: WorkspaceId, content: Uint8Array, sealed: boolean): BlobId {
    return sealed ? sealedId(this.idKey(workspace), content) : plainId(content)
  }

  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number } {
    if (!sealed) return hashPieces(fd, () => {})
    const content = readWhole(fd)
    return { blob: this.idOf(workspace, content, true), sizeBytes: content.length }
  }

  flush(): void {
    const nothing = this.#waiting.size === 0 && this.#writer === null && this.#handedOver.length === 0
    if (!nothing) this.#orDiscard(() => this.#db.transact(() => this.#flushInside()))
  }

  /**
   * When something could not be written, everything since the last flush is given up: who put it fails as a whole,
   * and what it took of a full disk is free again.
   */
  #orDiscard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      this.#writer?.abandon()
      for (const pack of this.#handedOver) this.#folder.abandon(pack.name)
      this.#forget()
      throw error
    }
  }

  #forget(): void {
    this.#waiting = new Map()
    this.#waitingBytes = 0
    this.#writer = null
    this.#spilled = new Set()
    this.#handedOver = []
  }

  /** Takes a pack that a worker has finished; its blobs are listed by the next flush. */
  handOver(pack: FinishedPack): void {
    this.#handedOver.push(pack)
    for (const { frame } of pack.placed) this.#spilled.add(frame.id)
  }

  /** The key under which a workspace's sealed blobs are named. */
  idKey(workspace: WorkspaceId): Uint8Array {
    const known = this.#idKeys.get(workspace)
    if (known !== undefined) return known
    const row = this.#db.get('SELECT id_key FROM workspaces WHERE id = ?', workspace)
    if (row === undefined) throw new DomainError('WORKSPACE_NOT_FOUND', { workspace })
    const key = bytes(row, 'id_key')
    this.#idKeys.set(workspace, key)
    return key
  }

  /** Ids and sizes of all blobs, for `verify`. */
  list(): { id: BlobId; storedBytes: number }[] {
    return this.#db.all('SELECT id, stored FROM blobs ORDER BY id').map((row) => ({
      id: asBlobId(row.id),
      storedBytes: integer(row, 'stored'),
    }))
  }

  #flushInside(): void {
    if (this.#writer !== null) this.#finishWriter(this.#writer)
    const waiting = [...this.#waiting.values()]
    if (waiting.length > 0) {
      const { pack, placed } = this.#folder.append(waiting)
      this.#list(pack, placed)
    }
    for (const pack of this.#handedOver) this.#list(this.#folder.adopt(pack.name, pack.bytes), pack.placed)
    this.#db.afterCommit(() => this.#forget())
  }

  /** What the pack holds now waits to be listed, whether or not the transaction that asked for it is kept. */
  #finishWriter(writer: PackWriter): void {
    for (const frame of this.#waiting.values()) {
      writer.add(frame)
      this.#spilled.add(frame.id)
    }
    this.#waiting = new Map()
    this.#waitingBytes = 0
    this.#handedOver.push(writer.finish())
    this.#writer = null
  }

  #list(pack: number, placed: readonly Placed[]): void {
    for (const { frame, at } of placed) {
      this.#db.run(
        'INSERT OR IGNORE INTO blobs(id, pack, at, codec, size, stored) VALUES (?, ?, ?, ?, ?, ?)',
        frame.id,
        pack,
        at,
        CODECS[frame.codec],
        frame.sizeBytes,
        frame.storedBytes,
      )
    }
  }

  #add(frame: Frame): void {
    this.#waiting.set(frame.id, frame)
    this.#waitingBytes += frame.storedBytes
    if (this.#waitingBytes < WAITING_BYTES) return
    const writer = this.#startWriter()
    for (const waiting of this.#waiting.values()) {
      writer.add(waiting)
      this.#spilled.add(waiting.id)
    }
    this.#waiting = new Map()
    this.#waitingBytes = 0
  }

  #startWriter(): PackWriter {
    this.#writer ??= this.#folder.startPack()
    return this.#writer
  }

  #readStored(id: BlobId): { codec: Codec; stored: Uint8Array; sizeBytes: number } {
    const waiting = this.#waiting.get(id)
    if (waiting !== undefined) {
      return { codec: waiting.codec, stored: waiting.body, sizeBytes: waiting.sizeBytes }
    }
    this.#flushIfSpilled(id)
    const row = this.#findRow(id)
    if (row === undefined) throw new DomainError('BLOB_NOT_FOUND', { blob: id })
    const stored = new Uint8Array(integer(row, 'stored'))
    this.#folder.readAt(integer(row, 'pack'), integer(row, 'at'), stored)
    return { codec: codecOf(row), stored, sizeBytes: integer(row, 'size') }
  }

  /** Reading what is being written is rare: then it is listed first. */
  #flushIfSpilled(id: BlobId): void {
    if (this.#spilled.has(id)) this.flush()
  }

  #findRow(id: BlobId): Row | undefined {
    return this.#db.get('SELECT pack, at, codec, size, stored FROM blobs WHERE id = ?', id)
  }

  #keysFor(id: BlobId): Uint8Array[] {
    if (!isSealed(id)) return []
    return this.#db.all('SELECT id_key FROM workspaces').map((row) => bytes(row, 'id_key'))
  }
}

function codecOf(row: Row): Codec {
  const codec = CODEC_NAMES.get(integer(row, 'codec'))
  invariant(codec !== undefined, 'the index names a codec of the store')
  return codec
}

function asBlobId(value: unknown): BlobId {
  invariant(typeof value === 'string' && (isPlain(value) || isSealedText(value)), 'the index holds blob ids')
  return value
}

const isPlain = (value: string): value is `p${string}` => value.startsWith('p')
const isSealedText = (value: string): value is `s${string}` => value.startsWith('s')

/** All bytes of an open file from its beginning, however many there are by now. */
function readWhole(fd: number): Uint8Array {
  const expected = fstatSync(fd).size
  // One byte more than expected shows whether it has grown.
  let buffer = Buffer.allocUnsafe(expected + 1)
  let length = 0
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.length - length, length)
    if (count === 0) return buffer.subarray(0, length)
    length += count
    if (length === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)])
  }
}

function hashPieces(fd: number, take: (piece: Uint8Array) => void): { blob: BlobId; sizeBytes: number } {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  let at = 0
  for (;;) {
    const count = readSync(fd, buffer, 0, PIECE_BYTES, at)
    if (count === 0) return { blob: `p${hash.digest('hex')}`, sizeBytes: at }
    hash.update(buffer.subarray(0, count))
    take(buffer.subarray(0, count))
    at += count
  }
}
