import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError } from '@turnback/core'
import { findAnyFault } from '#unusable.ts'
import type { Database } from './database.ts'
import { text } from './rows.ts'

/** Opened packs that are kept open for reading. */
const OPEN_PACKS = 64

/** Reads out of packs that the index lists, wherever they lie now. */
export class PackReader {
  readonly #folders: readonly string[]
  readonly #db: Pick<Database, 'get'>
  readonly #open = new Map<number, number>()

  constructor(packs: string, tmp: string, db: Pick<Database, 'get'>) {
    // A pack may move from `tmp/` to its place between two looks, so the first place is tried again.
    this.#folders = [packs, tmp, packs]
    this.#db = db
  }

  /** Reads stored bytes. @throws BLOB_NOT_FOUND when the pack is gone or shorter than the index says */
  readAt(pack: number, at: number, into: Uint8Array): void {
    const fd = this.#openPack(pack)
    let read = 0
    while (read < into.length) {
      const count = readSync(fd, into, read, into.length - read, at + read)
      if (count === 0) throw new DomainError('BLOB_NOT_FOUND', { pack })
      read += count
    }
  }

  close(): void {
    for (const fd of this.#open.values()) closeWhatWasRead(fd)
    this.#open.clear()
  }

  #openPack(pack: number): number {
    const known = this.#open.get(pack)
    if (known !== undefined) return known
    const row = this.#db.get('SELECT name FROM packs WHERE id = ?', pack)
    if (row === undefined) throw new DomainError('BLOB_NOT_FOUND', { pack })
    const name = text(row, 'name')
    const fd = openFirst(this.#folders.map((folder) => join(folder, name)))
    if (fd === null) throw new DomainError('BLOB_NOT_FOUND', { pack: name })
    if (this.#open.size >= OPEN_PACKS) this.close()
    this.#open.set(pack, fd)
    return fd
  }
}

function openFirst(files: readonly string[]): number | null {
  for (const file of files) {
    try {
      return openSync(file, 'r')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
  return null
}

/** Nothing is lost when the system says that it could not be closed, so nobody's work ends with that. */
function closeWhatWasRead(fd: number): void {
  try {
    closeSync(fd)
  } catch (error) {
    if (findAnyFault(error) === null) throw error
  }
}
