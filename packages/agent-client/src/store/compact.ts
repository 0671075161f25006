import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { extname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type BlobId, blobIdSchema, CODECS, DomainError, limits } from '@turnback/core'
import { plainId } from '#crypto/sealed-id.ts'
import { BIG_BYTES } from './big-blob.ts'
import type { BlobMember } from './blob-reader.ts'
import type { PackedBlobs } from './blob-store.ts'
import type { Database } from './database.ts'
import type { PackFolder } from './pack-folder.ts'
import { type BlobFacts, makeBlock, unpackBytes } from './pack-frame.ts'
import type { FinishedPack, PackWriter } from './pack-writer.ts'
import { integer, text } from './rows.ts'

/** What was captured so lately is left alone: it is read again, and sent, soon. */
export const COLD_MS = 3_600_000
/** A block of cold blobs holds this much: eight times what a capture writes, since it packs better and is seldom opened. */
const BLOCK_BYTES = 2 * 1024 * 1024
/** A bigger blob is a block by itself: it would be opened with all the others. */
const MEMBER_BYTES = 512 * 1024
/** Above this, blobs are streamed and stay as they are. */
const WHOLE_BYTES = BIG_BYTES
/** With less than this to be gained from it is not begun. */
const LEAST_BYTES = 1024 * 1024
/** A block of which less than this is of use is made anew. */
const LIVE_PART = 0.6
/** Nobody waits for it, so it may take longer than a capture's. */
const ZSTD_LEVEL = 9
const IDS_AT_ONCE = 100_000

export interface CompactParts {
  readonly db: Database
  readonly packs: PackFolder
  readonly blobs: PackedBlobs
  readonly nowMs: number
  readonly coldMs: number
  pause(): Promise<boolean>
}

/**
 * Puts small cold blobs together into big blocks, ordered by kind and path, so that like lies beside like. A blob is
 * listed in its new place only after it was read back from there; its old place becomes room for repack.ts to free.
 * @returns how many blobs were moved
 */
export async function compact(parts: CompactParts): Promise<number> {
  const ids = listCold(parts)
  let moved = 0
  let batch = new Batch(parts)
  for (const id of ids) {
    if (await batch.add(id)) {
      moved += batch.finish()
      batch = new Batch(parts)
    }
    if (batch.isStopped) break
  }
  return moved + (batch.isStopped ? batch.abandon() : batch.finish())
}

/** Ids in the order in which they are to lie. */
function listCold({ db, nowMs, coldMs }: CompactParts): BlobId[] {
  return db.snapshot(() => {
    db.exec(`
      CREATE TEMP TABLE IF NOT EXISTS path_of(id TEXT PRIMARY KEY, path TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS poor(pack INTEGER, at INTEGER, PRIMARY KEY(pack, at)) STRICT, WITHOUT ROWID;
      DELETE FROM temp.path_of; DELETE FROM temp.poor;
      INSERT INTO temp.poor SELECT k.pack, k.at FROM blocks k WHERE k.solid = 0 OR k.size * ${LIVE_PART} >
        (SELECT COALESCE(SUM(b.stored), 0) FROM blobs b WHERE b.pack = k.pack AND b.at = k.at AND b.inner IS NOT NULL)`)
    const cold = db.all(
      `SELECT b.id, b.stored FROM blobs b LEFT JOIN temp.poor p ON p.pack = b.pack AND p.at = b.at
        WHERE b.listed_ms <= ? AND b.condemned_ms IS NULL AND b.id LIKE 'p%'
          AND (b.size <= ${WHOLE_BYTES} AND b.codec IN (${CODECS.raw}, ${CODECS.zstd})
            OR b.stored <= ${WHOLE_BYTES} AND b.codec = ${CODECS.delta}) AND (b.inner IS NULL OR p.pack IS NOT NULL)
        LIMIT ${IDS_AT_ONCE}`,
      nowMs - coldMs,
    )
    if (cold.reduce((sum, row) => sum + integer(row, 'stored'), 0) < LEAST_BYTES) return []
    return inOrder(
      db,
      cold.map((row) => blobIdSchema.parse(row.id)),
    )
  })
}

function inOrder(db: Database, ids: readonly BlobId[]): BlobId[] {
  db.exec(`
    INSERT OR IGNORE INTO temp.path_of
      SELECT each.value ->> 2, folder || '/' || (each.value ->> 0) FROM known_folders, json_each(entries) each
      WHERE each.value ->> 1 = 'f';
    INSERT OR IGNORE INTO temp.path_of SELECT after ->> '$.blob', path FROM changes WHERE after ->> '$.kind' = 'file';
    INSERT OR IGNORE INTO temp.path_of SELECT before ->> '$.blob', path FROM changes WHERE before ->> '$.kind' = 'file'`)
  const keys = new Map<BlobId, string>()
  for (const id of ids) {
    const row = db.get('SELECT path FROM temp.path_of WHERE id = ?', id)
    const path = row === undefined ? '' : text(row, 'path')
    keys.set(id, `${extname(path)}\0${path}`)
  }
  return ids.toSorted((a, b) => compare(keys.get(a) ?? '', keys.get(b) ?? '') || compare(a, b))
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Blobs that go into one new pack. */
class Batch {
  readonly #parts: CompactParts
  readonly #members = new Map<BlobId, { readonly member: BlobMember; readonly sha256: string }>()
  #block: BlobMember[] = []
  #blockBytes = 0
  #writer: PackWriter | null = null
  isStopped = false

  constructor(parts: CompactParts) {
    this.#parts = parts
  }

  /** @returns true when the pack is full */
  async add(id: BlobId): Promise<boolean> {
    const member = this.#read(id)
    if (member === null) return false
    if (member.bytes.length > MEMBER_BYTES) this.#writeBlock([member])
    else {
      this.#block.push(member)
      this.#blockBytes += member.bytes.length
      if (this.#blockBytes < BLOCK_BYTES) return false
      this.#writeOpenBlock()
    }
    this.isStopped = await this.#parts.pause()
    return (this.#writer?.bytes ?? 0) >= limits.packBytes
  }

  finish(): number {
    if (this.#block.length > 0) this.#writeOpenBlock()
    if (this.#writer === null) return 0
    const { packs } = this.#parts
    const pack = this.#writer.finish()
    try {
      this.#check(pack)
      return this.#list(pack)
    } catch (error) {
      packs.abandon(pack.name)
      throw error
    }
  }

  abandon(): number {
    this.#writer?.abandon()
    return 0
  }

  /** What cannot be read stays where it is, for `verify` to tell of it. */
  #read(id: BlobId): BlobMember | null {
    try {
      return this.#parts.blobs.readMember(id)
    } catch (error) {
      if (error instanceof DomainError) return null
      throw error
    }
  }

  #writeOpenBlock(): void {
    this.#writeBlock(this.#block)
    this.#block = []
    this.#blockBytes = 0
  }

  #writeBlock(members: readonly BlobMember[]): void {
    const blobs: BlobFacts[] = []
    let inner = 0
    for (const member of members) {
      const { place, bytes } = member
      const codec = place.base === null ? ('raw' as const) : ('delta' as const)
      blobs.push({ ...factsOf(place), codec, storedBytes: bytes.length, inner })
      inner += bytes.length
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      this.#members.set(place.id, { member: { place, bytes: NO_BYTES }, sha256 })
    }
    this.#writer ??= this.#parts.packs.startPack()
    this.#writer.add(makeBlock(Buffer.concat(members.map((member) => member.bytes)), blobs, ZSTD_LEVEL))
  }

  /** Reads every blob back from the new pack. @throws PACK_MISSING */
  #check(pack: FinishedPack): void {
    const fd = openSync(join(this.#parts.packs.tmp, pack.name), 'r')
    try {
      for (const block of pack.blocks) {
        const stored = new Uint8Array(block.storedBytes)
        const count = readSync(fd, stored, 0, stored.length, block.at)
        const content = crc32(stored) === block.crc ? unpackBytes(stored, block.sizeBytes) : null
        const blobs = pack.blobs.filter((blob) => blob.at === block.at)
        const isGood = (blob: BlobFacts): boolean => content !== null && this.#isSame(blob, content)
        if (count !== stored.length || !blobs.every(isGood))
          throw new DomainError('PACK_MISSING', { why: 'a pack did not read back as it was written' })
      }
    } finally {
      closeSync(fd)
    }
  }

  #isSame({ id, inner, storedBytes, base }: BlobFacts, content: Uint8Array): boolean {
    const bytes = content.subarray(inner ?? 0, (inner ?? 0) + storedBytes)
    if (base === null) return plainId(bytes) === id
    return createHash('sha256').update(bytes).digest('hex') === this.#members.get(id)?.sha256
  }

  /** Only blobs that lie where they were read. */
  #list(pack: FinishedPack): number {
    const { db, packs } = this.#parts
    return db.transact(() => {
      const to = packs.adopt(pack.name, pack.bytes)
      for (const { at, sizeBytes, storedBytes, crc } of pack.blocks) {
        const sql = 'INSERT INTO blocks(pack, at, size, stored, crc, solid) VALUES (?, ?, ?, ?, ?, 1)'
        db.run(sql, to, at, sizeBytes, storedBytes, crc)
      }
      let moved = 0
      for (const { id, at, codec, storedBytes, inner } of pack.blobs) {
        const from = this.#members.get(id)?.member.place
        if (from === undefined) continue
        moved += db.run(
          `UPDATE blobs SET pack = ?, at = ?, codec = ?, stored = ?, inner = ?, crc = NULL
            WHERE id = ? AND pack = ? AND at = ? AND inner IS ?`,
          ...[to, at, CODECS[codec], storedBytes, inner, id, from.pack, from.at, from.inner],
        )
      }
      return moved
    })
  }
}

const NO_BYTES = new Uint8Array(0)

function factsOf({ id, codec, sizeBytes, storedBytes, inner, base, depth }: BlobFacts): BlobFacts {
  return { id, codec, sizeBytes, storedBytes, inner, base, depth }
}
