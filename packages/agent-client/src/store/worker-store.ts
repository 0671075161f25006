import type { BlobId, WorkspaceId } from '@turnback/core'
import { BlobIndex } from './blob-index.ts'
import { BlobReader } from './blob-reader.ts'
import { BlobSink, type Named } from './blob-sink.ts'
import { Database } from './database.ts'
import { packFolders } from './pack-folder.ts'
import { PackReader } from './pack-reader.ts'
import { type FinishedPack, PackWriter } from './pack-writer.ts'

/** A pack is finished when it holds this much, so that none grows with the tree. */
const PACK_BYTES = 64 * 1024 * 1024

/** What a thread needs to write into the store beside the one that owns it. */
export interface WorkerStoreFacts {
  readonly store: string
  readonly storeKey: Uint8Array
  readonly idKey: Uint8Array
  /** What the names of its packs begin with; nobody else's do. */
  readonly packPrefix: string
}

/** What a thread has written: packs that nobody knows of yet, and what it found in the index. */
export interface WorkerYield {
  readonly packs: readonly FinishedPack[]
  readonly reliedOn: readonly BlobId[]
}

/**
 * The store as a worker thread sees it: it reads the index and writes packs of its own, which the owner of the store
 * lists afterwards. Nothing of it counts until then.
 */
export class WorkerStore {
  readonly #facts: WorkerStoreFacts
  readonly #db: Database
  readonly #index: BlobIndex
  readonly #packs: PackReader
  readonly #sink: BlobSink
  readonly #tmp: string
  #writer: PackWriter | null = null
  #finished: PackWriter[] = []
  #added = new Set<BlobId>()
  #reliedOn = new Set<BlobId>()
  #packNumber = 0

  constructor(facts: WorkerStoreFacts) {
    this.#facts = facts
    const { packs, tmp } = packFolders(facts.store)
    this.#tmp = tmp
    this.#db = new Database(facts.store, 'read')
    this.#index = new BlobIndex(this.#db)
    this.#packs = new PackReader(packs, tmp, this.#db)
    const storeKey = () => facts.storeKey
    const reader = new BlobReader({
      ...{ index: this.#index, packs: this.#packs, storeKey, idKeys: () => [] },
      lookAgain: () => this.#db.renewSnapshot(),
    })
    this.#sink = new BlobSink({
      storeKey,
      idKey: () => facts.idKey,
      has: (id) => this.#isThere(id),
      findBase: (previous) => reader.findBase(previous),
      emit: (frame) => this.#openWriter().add(frame),
      openWriter: () => this.#openWriter(),
      added: (id) => this.#added.add(id),
    })
  }

  putOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean, previous: BlobId | null = null): Named {
    return this.#sink.putOpenFile(workspace, fd, sealed, previous)
  }

  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): Named {
    return this.#sink.idOfOpenFile(workspace, fd, sealed)
  }

  has(id: BlobId): boolean {
    return this.#isThere(id)
  }

  /** Many questions to the index cost little more than one inside this: each alone takes and gives back its locks. */
  together<T>(work: () => T): T {
    return this.#db.snapshot(work)
  }

  /** Makes what was written durable and gives it out. @throws STORE_FULL, NOT_RECORDED */
  finish(): WorkerYield {
    this.#sink.finish()
    if (this.#writer !== null) this.#finished.push(this.#writer)
    this.#writer = null
    const packs = this.#finished.map((writer) => writer.finish())
    const reliedOn = [...this.#reliedOn]
    this.#finished = []
    this.#added = new Set()
    this.#reliedOn = new Set()
    return { packs, reliedOn }
  }

  /** Closes everything, and removes what was not given out. */
  close(): void {
    for (const writer of this.#finished) writer.abandon()
    this.#writer?.abandon()
    this.#packs.close()
    this.#db.close()
  }

  #isThere(id: BlobId): boolean {
    if (this.#added.has(id)) return true
    if (!this.#index.has(id)) return false
    this.#reliedOn.add(id)
    return true
  }

  #openWriter(): PackWriter {
    if (this.#writer !== null && this.#writer.bytes >= PACK_BYTES) {
      this.#writer.finish()
      this.#finished.push(this.#writer)
      this.#writer = null
    }
    const number = (this.#packNumber + 1).toString(16).padStart(4, '0')
    if (this.#writer === null) {
      this.#writer = new PackWriter(this.#tmp, `${this.#facts.packPrefix}${number}.pack`)
      this.#packNumber++
    }
    return this.#writer
  }
}
