import type { BlobId, WorkspaceId } from '@turnback/core'
import { DomainError } from '@turnback/core'
import type { BlobStore } from '#ports.ts'
import { BlobIndex } from './blob-index.ts'
import { type BlobMember, BlobReader } from './blob-reader.ts'
import { BlobSink } from './blob-sink.ts'
import type { Database } from './database.ts'
import type { PackFolder } from './pack-folder.ts'
import type { Frame } from './pack-frame.ts'
import type { FinishedPack, PackWriter } from './pack-writer.ts'
import { bytes } from './rows.ts'

/** Frames that wait in memory for the next flush; above this they go to a pack of their own at once. */
const WAITING_BYTES = 8 * 1024 * 1024

export class PackedBlobs implements BlobStore {
  readonly #db: Database
  readonly #folder: PackFolder
  readonly #storeKey: () => Uint8Array
  readonly #nowMs: () => number
  readonly #index: BlobIndex
  readonly #reader: BlobReader
  readonly #sink: BlobSink
  readonly #idKeys = new Map<WorkspaceId, Uint8Array>()
  #waiting: Frame[] = []
  #waitingBytes = 0
  /** Reads share one look at the index: no more than what makes them quick. */
  #isTogether = false
  #writer: PackWriter | null = null
  #handedOver: FinishedPack[] = []
  /** Ids that the next flush lists. */
  #added = new Set<BlobId>()
  /** Ids that were found in the index: what is recorded next may name them. */
  #reliedOn = new Set<BlobId>()
  /** Ids that were put and given up again: two captures may put at the same time, and one of them fail. */
  readonly #givenUp = new Set<BlobId>()

  constructor(
    db: Database,
    folder: PackFolder,
    storeKey: () => Uint8Array,
    nowMs: () => number = () => Date.now(),
  ) {
    this.#db = db
    this.#folder = folder
    this.#storeKey = storeKey
    this.#nowMs = nowMs
    this.#index = new BlobIndex(db)
    this.#reader = new BlobReader({
      index: this.#index,
      packs: folder.reader,
      storeKey,
      idKeys: () => db.all('SELECT id_key FROM workspaces').map((row) => bytes(row, 'id_key')),
      lookAgain: () => {
        if (this.#isTogether) db.renewSnapshot()
      },
    })
    this.#sink = new BlobSink({
      storeKey,
      idKey: (workspace) => this.idKey(workspace),
      has: (id) => this.#isThere(id),
      findBase: (previous) => this.#findBase(previous),
      emit: (frame) => this.#emit(frame),
      openWriter: () => this.#openWriter(),
      added: (id) => this.#added.add(id),
    })
  }

  /** What locks sealed bytes on this machine: for who writes into the store beside this. */
  get storeKey(): Uint8Array {
    return this.#storeKey()
  }

  put(workspace: WorkspaceId, content: Uint8Array, sealed: boolean, previous: BlobId | null = null): BlobId {
    return this.#orDiscard(() => this.#sink.put(workspace, content, sealed, previous))
  }

  putOpenFile(
    workspace: WorkspaceId,
    fd: number,
    sealed: boolean,
    previous: BlobId | null = null,
  ): { blob: BlobId; sizeBytes: number } {
    return this.#orDiscard(() => this.#sink.putOpenFile(workspace, fd, sealed, previous))
  }

  has(id: BlobId): boolean {
    return this.#added.has(id) || this.#index.has(id)
  }

  findSize(id: BlobId): number | null {
    this.#flushIfAdded(id)
    return this.#index.find(id)?.sizeBytes ?? null
  }

  read(id: BlobId): Uint8Array {
    this.#flushIfAdded(id)
    return this.#reader.read(id)
  }

  /** For who puts listed blobs elsewhere. */
  readMember(id: BlobId): BlobMember {
    return this.#reader.readMember(id)
  }

  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void {
    this.#flushIfAdded(id)
    this.#reader.readPieces(id, take)
  }

  together<T>(work: () => T): T {
    // What waits to be listed may have to be listed first, which is no reading.
    if (this.#added.size > 0 || this.#isTogether) return work()
    this.#isTogether = true
    try {
      return this.#db.snapshot(work)
    } finally {
      this.#isTogether = false
    }
  }

  idOf(workspace: WorkspaceId, content: Uint8Array, sealed: boolean): BlobId {
    return this.#sink.idOf(workspace, content, sealed)
  }

  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number } {
    return this.#sink.idOfOpenFile(workspace, fd, sealed)
  }

  flush(): void {
    const nothing = this.#added.size === 0 && this.#handedOver.length === 0 && this.#reliedOn.size === 0
    if (!nothing) this.#orDiscard(() => this.#db.transact(() => this.#flushInside()))
  }

  confirm(ids: Iterable<BlobId>): void {
    if (this.#givenUp.size === 0) return
    for (const id of ids) {
      if (!this.#givenUp.has(id)) continue
      if (!this.has(id)) throw new DomainError('NOT_RECORDED', { blob: id, why: 'it was given up' })
      this.#givenUp.delete(id)
    }
  }

  /**
   * Takes a pack that a worker thread has finished; its blobs are listed by the next flush.
   * @param reliedOn ids that it found in the index and did not write again
   */
  handOver(pack: FinishedPack, reliedOn: Iterable<BlobId>): void {
    this.#handedOver.push(pack)
    for (const { id } of pack.blobs) this.#added.add(id)
    this.relyOn(reliedOn)
  }

  /** What the names of one thread's packs begin with. */
  newPackPrefix(): string {
    return this.#folder.newPrefix()
  }

  /** Removes packs that were never handed over: who wrote them failed, or died. */
  abandonPacks(prefix: string): void {
    this.#folder.abandonAll(prefix)
  }

  /** Ids that somebody found in the index: the next flush fails if they are not there any more. */
  relyOn(ids: Iterable<BlobId>): void {
    for (const id of ids) this.#reliedOn.add(id)
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

  /** Ids and stored lengths of all blobs, for `verify`. */
  list(): { id: BlobId; storedBytes: number }[] {
    return this.#index.list()
  }

  /** Gives up everything that was put since the last flush. */
  discard(): void {
    this.#writer?.abandon()
    for (const pack of this.#handedOver) this.#folder.abandon(pack.name)
    for (const id of this.#added) this.#givenUp.add(id)
    this.#forget()
  }

  /**
   * When something could not be written, everything since the last flush is given up: who put it fails as a whole,
   * and what it took of a full disk is free again.
   */
  #orDiscard<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      // A fault of the file that is read is for its reader to judge; nothing of that file was kept.
      if (!(error instanceof Error && 'syscall' in error)) this.discard()
      throw error
    }
  }

  #forget(): void {
    this.#waiting = []
    this.#waitingBytes = 0
    this.#writer = null
    this.#handedOver = []
    this.#added = new Set()
    this.#reliedOn = new Set()
  }

  #flushInside(): void {
    this.#sink.finish()
    if (this.#writer !== null) this.#finishWriter(this.#writer)
    const nowMs = this.#nowMs()
    if (this.#waiting.length > 0) {
      const { pack, placed } = this.#folder.append(this.#waiting)
      this.#index.insert(pack, placed, nowMs)
      for (const { base } of placed.blobs) if (base !== null) this.#reliedOn.add(base)
    }
    for (const pack of this.#handedOver) {
      this.#index.insert(this.#folder.adopt(pack.name, pack.bytes), pack, nowMs)
      for (const { base } of pack.blobs) if (base !== null) this.#reliedOn.add(base)
    }
    this.#index.rely(this.#reliedOn)
    this.#db.afterCommit(() => this.#forget())
  }

  /** What the pack holds now waits to be listed, whether or not the transaction that asked for it is kept. */
  #finishWriter(writer: PackWriter): void {
    this.#spill(writer)
    this.#handedOver.push(writer.finish())
    this.#writer = null
  }

  #emit(frame: Frame): void {
    this.#waiting.push(frame)
    this.#waitingBytes += frame.body.length
    if (this.#waitingBytes >= WAITING_BYTES) this.#spill(this.#openWriter())
  }

  #spill(writer: PackWriter): void {
    for (const frame of this.#waiting) writer.add(frame)
    this.#waiting = []
    this.#waitingBytes = 0
  }

  #openWriter(): PackWriter {
    this.#writer ??= this.#folder.startPack()
    return this.#writer
  }

  #isThere(id: BlobId): boolean {
    if (this.#added.has(id)) return true
    if (!this.#index.has(id)) return false
    this.#reliedOn.add(id)
    return true
  }

  #findBase(previous: BlobId) {
    return this.#added.has(previous) ? null : this.#reader.findBase(previous)
  }

  /** Reading what waits to be written is rare: then it is listed first. */
  #flushIfAdded(id: BlobId): void {
    if (this.#added.has(id)) this.flush()
  }
}
