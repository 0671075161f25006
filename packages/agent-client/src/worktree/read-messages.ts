import type { BlobId, ErrorBody, RelPath, WorkspaceId } from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'
import type { WorkerStoreFacts, WorkerYield } from '#store/worker-store.ts'
import type { Anchoring, TreeRoot } from './anchored.ts'
import type { ReadResult } from './read-file.ts'

/** What passes between a capture and the threads that read files for it. Everything here can be cloned. */

/** Where one capture reads, and where its bytes go. */
export interface JobFacts {
  readonly tree: TreeRoot
  readonly workspace: WorkspaceId
  readonly anchoring: Anchoring
  readonly store: WorkerStoreFacts
}

export interface BatchFile {
  readonly name: string
  readonly sealed: boolean
  readonly known: BlobId | null
  readonly sizeBytes: number
  /** What an earlier attempt read of it, with the stamp it had then. */
  readonly kept: KnownEntry | null
}

export interface BatchFolder {
  readonly folder: RelPath
  readonly files: readonly BatchFile[]
}

export interface Batch {
  readonly folders: readonly BatchFolder[]
  /** What is not begun by then is left out; null when nobody waits. */
  readonly leftMs: number | null
}

/** Per file of the batch, in its order; null for what was not begun in time. */
export type BatchResults = readonly (ReadResult | null)[]

export type Request =
  | { readonly kind: 'begin'; readonly job: JobFacts }
  | { readonly kind: 'read'; readonly batch: Batch }
  /** Makes what was written durable, and gives it out. */
  | { readonly kind: 'finish' }
  /** The job is over; what was not given out is removed. */
  | { readonly kind: 'end' }

export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'read'; readonly results: BatchResults }
  | { readonly kind: 'finished'; readonly written: WorkerYield }
  | { readonly kind: 'refused'; readonly error: ErrorBody }
  | { readonly kind: 'failed'; readonly error: unknown }
