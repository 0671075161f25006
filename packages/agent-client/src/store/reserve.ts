import { randomBytes } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Room that is kept for `gc`: to remove something from the log, it has to write there first, and on a full disk it could
 * not. Enough for the steps that it makes then (gc.ts).
 */
const RESERVE_BYTES = 1024 * 1024
/** It is made only where it is no burden. */
const LEAST_FREE_BYTES = 16 * RESERVE_BYTES

const fileOf = (store: string) => join(store, 'reserve')

export function keepReserve(store: string): void {
  const file = fileOf(store)
  if (statSync(file, { throwIfNoEntry: false })?.size === RESERVE_BYTES) return
  try {
    const { bavail, bsize } = statfsSync(store)
    if (bavail * bsize < LEAST_FREE_BYTES) return
    const fd = openSync(file, 'w', 0o600)
    try {
      // What a file system could make smaller would keep less room than it says.
      writeSync(fd, randomBytes(RESERVE_BYTES))
      fdatasyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    // There is no room for it, or no right: then there is none.
    releaseReserve(store)
  }
}

/** @returns whether that made room */
export function releaseReserve(store: string): boolean {
  const isThere = statSync(fileOf(store), { throwIfNoEntry: false }) !== undefined
  rmSync(fileOf(store), { force: true })
  return isThere
}
