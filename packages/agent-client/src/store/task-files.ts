import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from '#ports.ts'

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** What `run` hands from one try to the next lies in our own store, where no scan looks. */
function folderOf(home: Pick<Home, 'store'>): string {
  const folder = join(home.store, 'tasks')
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE })
  return folder
}

/** Where a file of this name is to be, for nobody but its owner. */
export function placeTaskFile(home: Pick<Home, 'store'>, name: string): string {
  return join(folderOf(home), name)
}

/** Writes a file from pieces, so that many of them need not be held at once. @returns its place */
export function writeTaskFile(home: Pick<Home, 'store'>, name: string, pieces: Iterable<Uint8Array>): string {
  const file = placeTaskFile(home, name)
  const fd = openSync(file, 'w', FILE_MODE)
  try {
    for (const bytes of pieces) for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
  } finally {
    closeSync(fd)
  }
  return file
}

export function removeTaskFile(file: string): void {
  rmSync(file, { force: true })
}

/** Removes what nobody hands on any more. The turns themselves are kept, and their diffs can be had from them. */
export function removeOldTaskFiles(home: Pick<Home, 'store'>, beforeMs: number): void {
  const folder = folderOf(home)
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat !== undefined && stat.mtimeMs < beforeMs) rmSync(file, { force: true })
  }
}
