import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { DomainError, invariant, limits, PACK_MAGIC } from '@turnback/core'
import type { ProcessName } from '#ports.ts'
import type { Database } from './database.ts'
import type { Frame } from './pack-frame.ts'
import { PackReader } from './pack-reader.ts'
import { orStoreFault, PackWriter, type Placed, Placing, writeAll } from './pack-writer.ts'
import { isAlive, isOutOfSight, nameThisProcess, thisSpace } from './process.ts'
import { integer, text } from './rows.ts'

/**
 * `packs/` holds packs that the index lists, `tmp/` those that are being written. A big batch gets a pack of its
 * own; small ones are appended to a common pack while the database's write lock is held, so that no two
 * processes append at once. What lies behind the length that the index gives is a torn tail, and is cut off
 * before the next append.
 */
export class PackFolder {
  readonly packs: string
  readonly tmp: string
  readonly #db: Database
  readonly reader: PackReader

  constructor(store: string, db: Database) {
    const { packs, tmp } = packFolders(store)
    this.packs = packs
    this.tmp = tmp
    this.#db = db
    this.reader = new PackReader(this.packs, this.tmp, db)
    for (const folder of [this.packs, this.tmp]) mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#clean()
  }

  /** A writer for a new pack of this process. */
  startPack(): PackWriter {
    return new PackWriter(this.tmp, `${this.newPrefix()}.pack`)
  }

  /** What the names of one writer's packs may begin with. It tells whose they are. */
  newPrefix(): string {
    const { pid, started, boot } = nameThisProcess()
    const space = thisSpace()
    return `${pid}_${started}_${boot}_${space === '' ? '' : `${space}_`}${randomBytes(8).toString('hex')}`
  }

  /** Removes packs that were never listed, by what their names begin with: a writer that died says nothing of them. */
  abandonAll(prefix: string): void {
    for (const name of readdirSync(this.tmp)) if (name.startsWith(prefix)) this.abandon(name)
  }

  /** A new folder of this process, for what is of no use when it ends. */
  makeTemporaryFolder(): string {
    const folder = join(this.tmp, `${this.newPrefix()}.folder`)
    mkdirSync(folder, { mode: 0o700 })
    return folder
  }

  /**
   * Lists a finished pack in the index; it moves to `packs/` when the transaction is kept. @returns its number
   * @throws PACK_MISSING when it is not there as it was written: nothing is to name bytes that are lost
   */
  adopt(name: string, bytes: number): number {
    if (statSync(join(this.tmp, name), { throwIfNoEntry: false })?.size !== bytes)
      throw new DomainError('PACK_MISSING', { pack: name })
    syncFolder(this.tmp)
    this.#db.run('INSERT INTO packs(name, bytes) VALUES (?, ?)', name, bytes)
    // One that stays is found there by readers, and moved by the next start.
    this.#db.afterCommit(() => madeUpForLater(() => renameSync(join(this.tmp, name), join(this.packs, name))))
    return integer(this.#db.get('SELECT id FROM packs WHERE name = ?', name) ?? {}, 'id')
  }

  /** Removes a finished pack that was never listed. */
  abandon(name: string): void {
    // What failed may have been the step after it was listed.
    if (this.#db.get('SELECT 1 FROM packs WHERE name = ?', name) !== undefined) return
    rmSync(join(this.tmp, name), { force: true })
  }

  /**
   * Takes a pack that nothing refers to out of the index, and removes it when the transaction is kept. The latest one
   * stays: its number is not to be given to another pack while somebody may still read the old one under it.
   * @returns false when it stays
   */
  drop(pack: number): boolean {
    const row = this.#db.get(
      'SELECT name, (SELECT MAX(id) FROM packs) AS latest FROM packs WHERE id = ?',
      pack,
    )
    if (row === undefined || integer(row, 'latest') === pack) return false
    this.#db.run('DELETE FROM blocks WHERE pack = ?', pack)
    this.#db.run('DELETE FROM packs WHERE id = ?', pack)
    const name = text(row, 'name')
    // One that stays is no longer listed, and removed with the next.
    this.#db.afterCommit(() => madeUpForLater(() => rmSync(join(this.packs, name), { force: true })))
    return true
  }

  /**
   * Removes what lies in `packs/` and is not listed: a process was ended between the two steps of {@link drop}. Inside a
   * transaction, so that nobody is about to list it.
   */
  removeUnlisted(): void {
    invariant(this.#db.isInTransaction, 'nobody lists a pack meanwhile')
    for (const name of readdirSync(this.packs)) {
      const isListed = this.#db.get('SELECT 1 FROM packs WHERE name = ?', name) !== undefined
      if (!isListed) rmSync(join(this.packs, name), { force: true })
    }
  }

  /** Appends to the common pack and makes it durable. Inside a transaction. @throws STORE_FULL */
  append(frames: readonly Frame[]): { pack: number; placed: Placed } {
    const { pack, name, bytes } = this.#commonPack()
    const fd = orStoreFault(() => openSync(join(this.packs, name), bytes === 0 ? 'w' : 'r+', 0o600))
    try {
      orStoreFault(() => ftruncateSync(fd, bytes))
      const buffers: Uint8Array[] = bytes === 0 ? [Buffer.from(PACK_MAGIC, 'ascii')] : []
      let end = bytes === 0 ? PACK_MAGIC.length : bytes
      const placed = new Placing()
      for (const frame of frames) {
        buffers.push(frame.header, frame.body)
        end = placed.add(frame, end)
      }
      writeOrTakeBack(fd, buffers, bytes)
      if (bytes === 0) syncFolder(this.packs)
      this.#db.run('UPDATE packs SET bytes = ? WHERE id = ?', end, pack)
      return { pack, placed }
    } finally {
      closeSync(fd)
    }
  }

  #commonPack(): { pack: number; name: string; bytes: number } {
    const row = this.#db.get(
      "SELECT id, name, bytes FROM packs WHERE name LIKE 'common-%' ORDER BY id DESC LIMIT 1",
    )
    if (row !== undefined && integer(row, 'bytes') < limits.packBytes) {
      const found = { pack: integer(row, 'id'), name: text(row, 'name'), bytes: integer(row, 'bytes') }
      // One that somebody removed keeps nothing from being recorded; `verify` tells what was lost with it.
      if (existsSync(join(this.packs, found.name)) || found.bytes === 0) return found
    }
    // Named by its number: one that was begun and never listed is written over.
    const next = integer(this.#db.get('SELECT COALESCE(MAX(id), 0) + 1 AS next FROM packs') ?? {}, 'next')
    const name = `common-${next}.pack`
    this.#db.run('INSERT INTO packs(id, name, bytes) VALUES (?, ?, 0)', next, name)
    return { pack: next, name, bytes: 0 }
  }

  /** Reads stored bytes. @throws BLOB_NOT_FOUND when the pack is gone or shorter than the index says */
  readAt(pack: number, at: number, into: Uint8Array): void {
    this.reader.readAt(pack, at, into)
  }

  bytesInPacks(): number {
    return sizesOf(
      [this.packs, this.tmp].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name))),
    )
  }

  /** What the whole store takes: packs, and the log with its index. */
  bytesOnDisk(): number {
    const log = ['', '-wal', '-shm'].map((end) => join(this.packs, '..', `turnback.db${end}`))
    return this.bytesInPacks() + sizesOf(log)
  }

  close(): void {
    this.reader.close()
  }

  #isBeingWritten(name: string): boolean {
    const owner = readOwner(name)
    if (owner === null) return false
    if (!isOutOfSight(owner.name, owner.space)) return isAlive(owner.name)
    const writtenMs = statSync(join(this.tmp, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
    return Date.now() - writtenMs < WRITING_MS
  }

  /** Removes what killed processes left in `tmp/`, and moves to its place what they had listed already. */
  #clean(): void {
    for (const name of readdirSync(this.tmp)) {
      if (this.#isBeingWritten(name)) continue
      const listed = this.#db.get('SELECT id FROM packs WHERE name = ?', name) !== undefined
      if (listed) renameSync(join(this.tmp, name), join(this.packs, name))
      else rmSync(join(this.tmp, name), { recursive: true, force: true })
    }
  }
}

/** Nobody writes a pack for so long; what it holds counts for nothing until then. */
const WRITING_MS = 3_600_000

/** Others finish, move and remove packs meanwhile. */
function sizesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** What follows a commit and is made up for later: what was kept must not be told as a failure. */
function madeUpForLater(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** What could not be written whole is cut off again at once: on a full disk every byte counts. */
function writeOrTakeBack(fd: number, buffers: readonly Uint8Array[], bytes: number): void {
  try {
    writeAll(fd, buffers, bytes)
    orStoreFault(() => fdatasyncSync(fd))
  } catch (error) {
    ftruncateSync(fd, bytes)
    throw error
  }
}

/** Where packs lie, and where they are written. */
export function packFolders(store: string): { readonly packs: string; readonly tmp: string } {
  return { packs: join(store, 'packs'), tmp: join(store, 'tmp') }
}

const OWNED = /^(\d+)_(\d*)_([0-9a-f-]*)_(?:(\d+)_)?[0-9a-f]+\.(?:pack|folder)$/

/** By whom, and in which PID namespace. */
function readOwner(name: string): { name: ProcessName; space: string } | null {
  const [, pid, started, boot, space = ''] = OWNED.exec(name) ?? []
  if (pid === undefined || started === undefined || boot === undefined) return null
  return { name: { pid: Number(pid), started, boot }, space }
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
