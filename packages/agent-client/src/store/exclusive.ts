import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { orUnusable } from '#unusable.ts'
import { fromSqlite } from './sqlite-fault.ts'

const SQLITE_BUSY = 5

/**
 * A lock of the operating system on a file of ours, taken through SQLite: it ends with its process, however that
 * ends, so it is never stale. Null when another process holds it.
 */
export function takeExclusive(file: string): { release(): void } | null {
  closeSync(orUnusable(file, () => openSync(file, 'a', 0o600)))
  const db = new DatabaseSync(file, { timeout: 0 })
  try {
    // Nothing is ever written in it, so a full disk is no hindrance.
    db.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw fromSqlite(error, file)
  }
  return { release: () => db.close() }
}
