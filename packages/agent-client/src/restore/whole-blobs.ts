import { type BlobId, DomainError, type PlanContent } from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'
import { type Naming, sha256 } from './facts.ts'
import { Pace } from './pace.ts'

/** Bytes above this are not compared by lines. */
const TEXT_BYTES = 8 * 1024 * 1024

/**
 * What a plan asks of the store. Whether bytes are there is known only when they were read to the end and compared with
 * their name: nothing is begun on the promise of an index. Reading takes long, and planning can not wait, so a question
 * that has no answer yet is answered with yes, and noted; after {@link WholeBlobs.answer} the plan is made anew.
 */
export class WholeBlobs implements PlanContent {
  readonly #deps: Deps
  readonly #workspace: Workspace
  readonly #naming: Naming
  readonly #known = new Map<BlobId, boolean>()
  readonly #asked = new Set<BlobId>()
  readonly sha256 = sha256

  constructor(deps: Deps, workspace: Workspace, naming: Naming) {
    this.#deps = deps
    this.#workspace = workspace
    this.#naming = naming
  }

  hasBlob(blob: BlobId): boolean {
    const known = this.#known.get(blob)
    if (known === undefined) this.#asked.add(blob)
    return known ?? true
  }

  readText(blob: BlobId): Uint8Array | null {
    const { blobs } = this.#deps
    const sizeBytes = blobs.findSize(blob)
    if (sizeBytes === null || sizeBytes > TEXT_BYTES) return null
    return this.#look(blob) ? blobs.read(blob) : null
  }

  nameText(path: string, bytes: Uint8Array): BlobId {
    const { blobs, log } = this.#deps
    const sealed = log.isSealedPath(this.#workspace.id, path)
    return this.#naming === 'store'
      ? blobs.put(this.#workspace.id, bytes, sealed)
      : blobs.idOf(this.#workspace.id, bytes, sealed)
  }

  /** Reads what was asked for, in slices. @returns false when there was nothing to be read */
  async answer(): Promise<boolean> {
    if (this.#asked.size === 0) return false
    const asked = [...this.#asked].reverse()
    this.#asked.clear()
    const pace = new Pace()
    while (asked.length > 0) {
      this.#deps.blobs.together(() => {
        for (let blob = asked.pop(); blob !== undefined; blob = pace.isOver ? undefined : asked.pop())
          this.#look(blob)
      })
      await pace.breathe()
    }
    return true
  }

  #look(blob: BlobId): boolean {
    const known = this.#known.get(blob) ?? isWhole(this.#deps, blob)
    this.#known.set(blob, known)
    return known
  }
}

/** Read to the end and checked against its name. */
function isWhole(deps: Deps, blob: BlobId): boolean {
  try {
    deps.blobs.readPieces(blob, () => {})
    return true
  } catch (error) {
    if (
      error instanceof DomainError &&
      (error.code === 'BLOB_NOT_FOUND' || error.code === 'BLOB_HASH_MISMATCH')
    )
      return false
    throw error
  }
}
