import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlobId, blobIdSchema, DomainError, limits, PACK_MAGIC } from '@turnback/core'
import type { Database } from './database.ts'
import type { PackFolder } from './pack-folder.ts'
import type { PackWriter } from './pack-writer.ts'
import { integer, integerOrNull, type Row, text } from './rows.ts'

/** A pack is written anew when this part of it, and this much, is of no use any more. */
const DEAD_PART = 0.25
const DEAD_BYTES = 64 * 1024
const PIECE_BYTES = 1024 * 1024
/** Ids have one of two lengths; a block has none, and its header is as long as any other without the id. */
const HEADER_BYTES = 10

export interface RepackParts {
  readonly db: Database
  readonly packs: PackFolder
  /** Reads a blob and compares it with its name: for frames that were written before they had a checksum. */
  check(blob: BlobId): void
  pause(): Promise<boolean>
}

export interface Repacked {
  /** Packs that were written anew or removed. */
  readonly packs: number
  readonly bytesFreed: number
}

/** A frame of a pack that is still of use. */
interface Live {
  readonly at: number
  readonly headerBytes: number
  readonly storedBytes: number
  readonly crc: number | null
  /** Null for a block. */
  readonly blob: BlobId | null
}

interface Moved {
  readonly frame: Live
  readonly to: number
}

/** Gives back the room of removed blobs: packs that nothing is left of go, others are written anew without their holes. */
export async function repack(parts: RepackParts): Promise<Repacked> {
  const { db, packs } = parts
  db.transact(() => {
    db.exec(`DELETE FROM blocks WHERE NOT EXISTS
      (SELECT 1 FROM blobs b WHERE b.pack = blocks.pack AND b.at = blocks.at AND b.inner IS NOT NULL)`)
    packs.removeUnlisted()
  })
  const total = { packs: 0, bytesFreed: 0 }
  for (const { pack, bytes } of listHoled(db)) {
    const kept = await repackOne(parts, pack)
    if (kept !== null) {
      total.packs++
      total.bytesFreed += bytes - kept
    }
    if (await parts.pause()) break
  }
  return total
}

/** Those that take the least to copy first: what they give back is room for the others. */
function listHoled(db: Database): { pack: number; bytes: number }[] {
  const sql = `SELECT p.id, p.bytes,
      (SELECT COALESCE(SUM(b.stored + length(b.id) + ${HEADER_BYTES}), 0) FROM blobs b WHERE b.pack = p.id AND b.inner IS NULL)
      + (SELECT COALESCE(SUM(k.stored + ${HEADER_BYTES}), 0) FROM blocks k WHERE k.pack = p.id) AS live
    FROM packs p ORDER BY live, p.id`
  return db.all(sql).flatMap((row) => {
    const [bytes, live] = [integer(row, 'bytes'), integer(row, 'live')]
    const dead = bytes - live - PACK_MAGIC.length
    const isHoled = live === 0 || (dead >= DEAD_BYTES && dead >= bytes * DEAD_PART)
    return isHoled ? [{ pack: integer(row, 'id'), bytes }] : []
  })
}

/** @returns how many bytes of it were kept, or null when it stays as it is */
async function repackOne(parts: RepackParts, pack: number): Promise<number | null> {
  const { db, packs } = parts
  const live = listLive(db, pack)
  if (live.length === 0) return db.transact(() => (packs.drop(pack) ? 0 : null))
  const row = db.get('SELECT name FROM packs WHERE id = ?', pack)
  if (row === undefined) return null
  const fd = openPack(packs, text(row, 'name'))
  if (fd === null) return null
  let kept = 0
  try {
    for (const group of inGroups(live)) {
      if (group.some((frame) => !isSound(parts, fd, frame))) return null
      kept += moveGroup(parts, fd, pack, group)
      if (await parts.pause()) return null
    }
  } finally {
    closeSync(fd)
  }
  return kept
}

function listLive(db: Database, pack: number): Live[] {
  const frames = db.all('SELECT id, at, stored, crc FROM blobs WHERE pack = ? AND inner IS NULL', pack)
  const blocks = db.all('SELECT at, stored, crc FROM blocks WHERE pack = ?', pack)
  const toLive = (each: Row, blob: BlobId | null): Live => ({
    at: integer(each, 'at'),
    headerBytes: (blob?.length ?? 0) + HEADER_BYTES,
    storedBytes: integer(each, 'stored'),
    crc: integerOrNull(each, 'crc'),
    blob,
  })
  return [
    ...frames.map((each) => toLive(each, blobIdSchema.parse(each.id))),
    ...blocks.map((each) => toLive(each, null)),
  ].sort((a, b) => a.at - b.at)
}

/** New packs are of a common size: one transaction moves one of them. */
function* inGroups(frames: readonly Live[]): Generator<Live[]> {
  let group: Live[] = []
  let bytes = 0
  for (const frame of frames) {
    group.push(frame)
    bytes += frame.storedBytes
    if (bytes < limits.packBytes) continue
    yield group
    group = []
    bytes = 0
  }
  if (group.length > 0) yield group
}

/** Damage is not copied as if it were sound: its pack stays as it is, for `verify` to tell of it. */
function isSound({ check }: RepackParts, fd: number, frame: Live): boolean {
  if (frame.crc !== null) return frame.crc === checksum(fd, frame)
  if (frame.blob === null) return true
  try {
    check(frame.blob)
    return true
  } catch (error) {
    if (error instanceof DomainError) return false
    throw error
  }
}

function checksum(fd: number, { at, storedBytes }: Live): number | null {
  let crc = 0
  const isWhole = readPieces(fd, at, storedBytes, (piece) => {
    crc = crc32(piece, crc)
  })
  return isWhole ? crc : null
}

/** Copies frames into a pack of their own, and lists them there once it is durable. */
function moveGroup({ db, packs }: RepackParts, fd: number, pack: number, group: readonly Live[]): number {
  const writer = packs.startPack()
  const moved = copyFrames(writer, fd, group)
  const { name, bytes } = writer.finish()
  if (!isCopied(packs, name, moved)) {
    packs.abandon(name)
    throw new DomainError('PACK_MISSING', { why: 'a pack did not read back as it was written' })
  }
  try {
    db.transact(() => {
      const to = packs.adopt(name, bytes)
      for (const each of moved) relist(db, pack, to, each)
      const rest = 'SELECT 1 FROM blobs WHERE pack = ? LIMIT 1'
      if (db.get(rest, pack) === undefined) packs.drop(pack)
    })
  } catch (error) {
    packs.abandon(name)
    throw error
  }
  return bytes
}

function copyFrames(writer: PackWriter, fd: number, group: readonly Live[]): Moved[] {
  try {
    return group.map((frame) => {
      const { at, headerBytes, storedBytes } = frame
      const to = writer.bytes + headerBytes
      const isWhole = writer.addBytes((write) =>
        readPieces(fd, at - headerBytes, headerBytes + storedBytes, write),
      )
      if (!isWhole) throw new DomainError('PACK_MISSING', { why: 'a pack became shorter' })
      return { frame, to }
    })
  } catch (error) {
    writer.abandon()
    throw error
  }
}

function isCopied(packs: PackFolder, name: string, moved: readonly Moved[]): boolean {
  const fd = openSync(join(packs.tmp, name), 'r')
  try {
    return moved.every(
      ({ frame, to }) => frame.crc === null || checksum(fd, { ...frame, at: to }) === frame.crc,
    )
  } finally {
    closeSync(fd)
  }
}

/** Only what still lies where it was copied from. */
function relist(db: Database, from: number, to: number, { frame, to: at }: Moved): void {
  if (frame.blob !== null) {
    db.run(
      'UPDATE blobs SET pack = ?, at = ? WHERE id = ? AND pack = ? AND at = ?',
      to,
      at,
      frame.blob,
      from,
      frame.at,
    )
    return
  }
  db.run(
    'UPDATE blobs SET pack = ?, at = ? WHERE pack = ? AND at = ? AND inner IS NOT NULL',
    to,
    at,
    from,
    frame.at,
  )
  db.run('UPDATE blocks SET pack = ?, at = ? WHERE pack = ? AND at = ?', to, at, from, frame.at)
}

function openPack(packs: PackFolder, name: string): number | null {
  try {
    return openSync(join(packs.packs, name), 'r')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** @returns false when the file ends before */
function readPieces(fd: number, at: number, length: number, take: (piece: Uint8Array) => void): boolean {
  for (let done = 0; done < length; ) {
    const piece = new Uint8Array(Math.min(PIECE_BYTES, length - done))
    const count = readSync(fd, piece, 0, piece.length, at + done)
    if (count === 0) return false
    take(count === piece.length ? piece : piece.subarray(0, count))
    done += count
  }
  return true
}
