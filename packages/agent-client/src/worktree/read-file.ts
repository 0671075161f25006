import { fstatSync } from 'node:fs'
import type { BlobId, FileState, State, WorkspaceId } from '@turnback/core'
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
}

export interface ReadResult {
  readonly state: State
  /** Stamp of exactly the bytes that were read; '' when none were. */
  readonly stamp: string
  readonly changedNs: bigint
}

type ReadingStore = Pick<BlobStore, 'putOpenFile' | 'idOfOpenFile'>

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
      return skipped(isGone(error) ? 'changed-while-reading' : 'unreadable', request)
    }
    if (file === null) return skipped('changed-while-reading', request)
    try {
      const state = readOnce(blobs, file, request)
      if (state !== null) return { state, stamp: stampOf(file.stat), changedNs: file.stat.ctimeNs }
    } catch (error) {
      if (!isSystemError(error)) throw error
      return skipped('unreadable', request)
    } finally {
      file[Symbol.dispose]()
    }
  }
  return skipped('changed-while-reading', request)
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

function skipped(reason: 'changed-while-reading' | 'unreadable', request: ReadRequest): ReadResult {
  return { state: { kind: 'skipped', reason, sizeBytes: request.sizeBytes }, stamp: '', changedNs: 0n }
}
