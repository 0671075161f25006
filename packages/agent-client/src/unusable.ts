import { DomainError } from '@turnback/core'

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'you have no right to use it',
  EPERM: 'you have no right to use it',
  EROFS: 'it lies on a disk that is read-only',
  EEXIST: 'something that is no folder is in its place',
  ENOTDIR: 'something that is no folder is in its way',
  ENOENT: 'it is not there and cannot be made there',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'the system gives this process no more open files',
  ENFILE: 'the system has no more open files to give',
}

/**
 * What the system says while the store is opened, as an error of the catalogue.
 * @param path what is named when the system names nothing
 * @throws STORE_FULL, STORE_UNUSABLE
 */
export function orUnusable<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw toUnusable(path, cause)
  }
}

function toUnusable(path: string, cause: unknown): unknown {
  if (!(cause instanceof Error && 'code' in cause && 'syscall' in cause)) return cause
  const why = String(cause.code)
  if (why === 'ENOSPC' || why === 'EDQUOT') return new DomainError('STORE_FULL', { path }, { cause })
  return storeUnusable('path' in cause ? String(cause.path) : path, why, cause)
}

/**
 * What went wrong with a file of ours after the store was opened, wherever that was noticed; null for any other error.
 * @param folders where our files lie
 */
export function findStoreFault(error: unknown, folders: readonly string[]): DomainError | null {
  if (!(error instanceof Error && 'syscall' in error && 'path' in error)) return null
  const path = String(error.path)
  if (!folders.some((folder) => path === folder || path.startsWith(`${folder}/`))) return null
  const fault = toUnusable(path, error)
  return fault instanceof DomainError ? fault : null
}

/** Of the machine's state, and nobody's mistake: no file, and no part of the client, is at fault. */
const OF_THE_SYSTEM = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])

/** A refusal of the system that nothing else tells better; null for any other error. @returns NOT_RECORDED */
export function findSystemFault(error: unknown): DomainError | null {
  const fault = findAnyFault(error)
  return fault !== null && OF_THE_SYSTEM.has(String(fault.details.why)) ? fault : null
}

/** The same for whatever the system refuses, where what is refused says nothing of what was done. @returns NOT_RECORDED */
export function findAnyFault(error: unknown): DomainError | null {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return null
  const why = String(error.code)
  const where = 'path' in error ? { path: String(error.path) } : {}
  return new DomainError('NOT_RECORDED', { why, call: String(error.syscall), ...where }, { cause: error })
}

/** @param why code of the system, or its own words */
export function storeUnusable(path: string, why: string, cause: unknown): DomainError {
  const message = `Turnback cannot use ${path}: ${WORDS[why] ?? why}.`
  return new DomainError('STORE_UNUSABLE', { path, why }, { message, cause })
}
