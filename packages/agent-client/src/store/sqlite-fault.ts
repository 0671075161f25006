import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DomainError } from '@turnback/core'
import { storeUnusable } from '#unusable.ts'

const PERM = 3
const BUSY = 5
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26
/** The shared index of the write-ahead log could not be made longer. */
const IOERR_SHMSIZE = IOERR | (19 << 8)

/** With less than this a log can hardly be written. */
const ROOM_BYTES = 128 * 1024

/** What SQLite says of the log's file, as an error of the catalogue; anything else as it is. */
export function fromSqlite(cause: unknown, file: string): unknown {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return cause
  const why = cause.message
  // The low byte is the kind; the rest says more of it.
  switch (cause.errcode & 0xff) {
    case FULL:
      return new DomainError('STORE_FULL', { path: file }, { cause })
    case BUSY:
      return new DomainError('STORE_LOCKED', { path: file }, { cause })
    case CORRUPT:
    case NOTADB:
      return new DomainError('STORE_CORRUPT', { why }, { cause })
    case IOERR:
      // Of some steps on a full disk SQLite says no more than that they failed.
      return cause.errcode === IOERR_SHMSIZE || isFull(file)
        ? new DomainError('STORE_FULL', { path: file }, { cause })
        : storeUnusable(file, why, cause)
    case PERM:
    case READONLY:
    case CANTOPEN:
      return storeUnusable(file, why, cause)
    default:
      return cause
  }
}

function isFull(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize < ROOM_BYTES
  } catch {
    // Not even that can be asked: then it is not the room.
    return false
  }
}
