import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The contents of a key file, made by `make` when it is not there yet. Readable by its owner only. Two processes
 * that make it at once end up with the same one: the file appears whole under its name, or not at all.
 */
export function readOrMakeKey(folder: string, name: string, make: () => Uint8Array): Uint8Array {
  const file = join(folder, name)
  const found = readIfThere(file)
  if (found !== null) return found
  const fresh = join(folder, `.${name}.${process.pid}`)
  rmSync(fresh, { force: true })
  const fd = openSync(fresh, 'wx', 0o600)
  try {
    writeSync(fd, make())
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  try {
    linkSync(fresh, file)
    syncFolder(folder)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  } finally {
    rmSync(fresh, { force: true })
  }
  return readFileSync(file)
}

function readIfThere(file: string): Uint8Array | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
