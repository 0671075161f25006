import { fstatSync } from 'node:fs'
import {
  type BlobId,
  DomainError,
  type FileState,
  isSealed,
  limits,
  type SkipReason,
  type State,
  type WorkspaceId,
} from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'
import type { BlobStore } from '#ports.ts'
import { type Folder, PathBlocked } from './anchored.ts'
import { isSystemError } from './fault.ts'
import { modeOf, type OpenFile, openRegular, sameFile } from './look.ts'
import { stampOf } from './stamp.ts'

/** A file that somebody writes to is tried this often before it is given up for now. */
const TRIES = 3

export interface ReadRequest {
  readonly workspace: WorkspaceId
  readonly name: string
  readonly sealed: boolean
  /** The blob that the file had when it was last read; kept when only its name would be another. */
  readonly known: BlobId | null
  readonly sizeBytes: number
  /** What an earlier attempt at the same capture read of it; good as long as the stamp is the same. */
  readonly kept: KnownEntry | null
}

export interface ReadResult {
  readonly state: State
  /** False when its bytes were not looked at: they were known, or could not be reached. */
  readonly wasRead: boolean
  /** Stamp of exactly the bytes that were read; '' when none were. */
  readonly stamp: string
  readonly changedNs: bigint
}

type ReadingStore = Pick<BlobStore, 'putOpenFile' | 'idOfOpenFile' | 'has'>

/** Said of the whole process and not of the file: then no file is at fault. */
const OUT_OF_MEANS = new Set(['EMFILE', 'ENFILE', 'ENOMEM'])

/**
 * Reads one file of an opened folder into the store. Opened without following a link and without waiting for a
 * FIFO, looked at before and after: a file that changed in between is read again, then skipped. Never throws
 * for what one file does; a full store is another matter.
 */
export function readInto(blobs: ReadingStore, folder: Folder, request: ReadRequest): ReadResult {
  for (let tries = 0; tries < TRIES; tries++) {
    let file: OpenFile | null
    try {
      file = openRegular(folder, request.name)
    } catch (error) {
      return skipped(isGone(error) ? 'changed-while-reading' : unreadable(error), request)
    }
    if (file === null) return skipped('changed-while-reading', request)
    try {
      const stamp = stampOf(file.stat)
      const facts = { stamp, changedNs: file.stat.ctimeNs }
      const kept = findKept(blobs, request, stamp)
      if (kept !== null) return { state: kept, wasRead: false, ...facts }
      if (file.stat.size > limits.blobBytes) return skipped('too-large', request)
      const state = readOnce(blobs, file, request)
      if (state !== null) return { state, wasRead: true, ...facts }
    } catch (error) {
      return skipped(unreadable(error), request)
    } finally {
      file[Symbol.dispose]()
    }
  }
  return skipped('changed-while-reading', request)
}

/** What was read before, when the file is the same still and its bytes are still here. */
function findKept(blobs: ReadingStore, { kept, sealed }: ReadRequest, stamp: string): FileState | null {
  if (kept === null || kept.stamp !== stamp || kept.state.kind !== 'file') return null
  // Bytes that were read as plain ones and are to be sealed now are read again, for their other name.
  return isSealed(kept.state.blob) === sealed && blobs.has(kept.state.blob) ? kept.state : null
}

/** Null when the file changed while it was read. */
function readOnce(blobs: ReadingStore, file: OpenFile, request: ReadRequest): FileState | null {
  const read = storeBytes(blobs, file, request)
  const isSame =
    sameFile(file.stat, fstatSync(file.fd, { bigint: true })) && file.stat.size === BigInt(read.sizeBytes)
  return isSame ? { kind: 'file', blob: read.blob, sizeBytes: read.sizeBytes, mode: modeOf(file.stat) } : null
}

function storeBytes(
  blobs: ReadingStore,
  file: OpenFile,
  request: ReadRequest,
): { blob: BlobId; sizeBytes: number } {
  const { workspace, known, sealed } = request
  if (sealed && known?.startsWith('p') === true) {
    // Named plainly before it became a secret: as long as the bytes are the same, so is the state.
    const plain = blobs.idOfOpenFile(workspace, file.fd, false)
    if (plain.blob === known) return plain
  }
  return blobs.putOpenFile(workspace, file.fd, sealed, known)
}

function isGone(error: unknown): boolean {
  return (
    error instanceof PathBlocked ||
    (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ELOOP'))
  )
}

/** @throws what is not the file's own fault */
function unreadable(error: unknown): 'unreadable' {
  if (!isSystemError(error)) throw error
  if (OUT_OF_MEANS.has(error.code))
    throw new DomainError('NOT_RECORDED', { why: error.code }, { cause: error })
  return 'unreadable'
}

function skipped(reason: SkipReason, request: Pick<ReadRequest, 'sizeBytes'>): ReadResult {
  const state: State = { kind: 'skipped', reason, sizeBytes: request.sizeBytes }
  return { state, wasRead: true, stamp: '', changedNs: 0n }
}

/** Of a file that could not even be opened any more where the walk had seen it. */
export function lostResult(request: Pick<ReadRequest, 'sizeBytes'>): ReadResult {
  return { ...skipped('changed-while-reading', request), wasRead: false }
}
