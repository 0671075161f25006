import type { SQLInputValue } from 'node:sqlite'
import { type BlobId, CODECS, type Codec, DomainError, invariant, isBlobId } from '@turnback/core'
import type { Database } from './database.ts'
import type { BlobFacts } from './pack-frame.ts'
import type { Placed } from './pack-writer.ts'
import { integer, type Row, text } from './rows.ts'

const CODEC_NAMES = new Map<number, Codec>([
  [CODECS.raw, 'raw'],
  [CODECS.zstd, 'zstd'],
  [CODECS.vault, 'vault'],
  [CODECS.delta, 'delta'],
  [CODECS.pieces, 'pieces'],
])
/** Rows in one statement: most of what a single one costs is paid once. */
const ROWS_AT_ONCE = 50
const IDS_AT_ONCE = 500

/** Where a blob lies, and how. */
export interface BlobPlace extends BlobFacts {
  readonly pack: number
  readonly at: number
}

/** The rows that say where each blob lies. */
export class BlobIndex {
  readonly #db: Pick<Database, 'get' | 'all' | 'run'>

  constructor(db: Pick<Database, 'get' | 'all' | 'run'>) {
    this.#db = db
  }

  has(id: BlobId): boolean {
    return this.#db.get('SELECT 1 FROM blobs WHERE id = ?', id) !== undefined
  }

  find(id: BlobId): BlobPlace | null {
    const row = this.#db.get(
      'SELECT pack, at, codec, size, stored, inner, base, depth FROM blobs WHERE id = ?',
      id,
    )
    return row === undefined ? null : toPlace(id, row)
  }

  /** Lengths of a block, unpacked and as it is stored. */
  findBlock(pack: number, at: number): { sizeBytes: number; storedBytes: number } | null {
    const row = this.#db.get('SELECT size, stored FROM blocks WHERE pack = ? AND at = ?', pack, at)
    return row === undefined ? null : { sizeBytes: integer(row, 'size'), storedBytes: integer(row, 'stored') }
  }

  /** Lists what lies in a pack. A blob that is listed already stays where it is. */
  insert(pack: number, { blobs, blocks }: Placed, nowMs: number): void {
    for (const { at, sizeBytes, storedBytes, crc } of blocks) {
      this.#db.run(
        'INSERT INTO blocks(pack, at, size, stored, crc) VALUES (?, ?, ?, ?, ?)',
        ...[pack, at, sizeBytes, storedBytes, crc],
      )
    }
    const head =
      'INSERT OR IGNORE INTO blobs(id, pack, at, codec, size, stored, inner, base, depth, crc, listed_ms) VALUES '
    for (let from = 0; from < blobs.length; from += ROWS_AT_ONCE) {
      const group = blobs.slice(from, from + ROWS_AT_ONCE)
      const values = group.flatMap((blob): SQLInputValue[] => [
        ...[blob.id, pack, blob.at, CODECS[blob.codec], blob.sizeBytes, blob.storedBytes, blob.inner],
        ...[blob.base, blob.depth, blob.crc, nowMs],
      ])
      this.#db.run(head + group.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', '), ...values)
    }
  }

  /**
   * Makes sure, inside the transaction that will name them, that blobs which were found here earlier are here still,
   * and keeps the removal of unused bytes away from them and from what they are deltas against.
   * @throws BLOB_NOT_FOUND
   */
  rely(ids: Iterable<BlobId>): void {
    const all = [...ids]
    for (let from = 0; from < all.length; from += IDS_AT_ONCE) {
      const group = all.slice(from, from + IDS_AT_ONCE)
      const list = JSON.stringify(group)
      const found = this.#db.get(
        'SELECT COUNT(*) AS found FROM blobs WHERE id IN (SELECT value FROM json_each(?))',
        list,
      )
      if (integer(found ?? {}, 'found') !== group.length) {
        const lost = group.find((id) => !this.has(id))
        throw new DomainError('BLOB_NOT_FOUND', { ...(lost === undefined ? {} : { blob: lost }) })
      }
      this.#db.run(
        `WITH RECURSIVE chain(id) AS (
           SELECT value FROM json_each(?)
           UNION SELECT base FROM blobs JOIN chain USING (id) WHERE base IS NOT NULL)
         UPDATE blobs SET condemned_ms = NULL WHERE condemned_ms IS NOT NULL AND id IN (SELECT id FROM chain)`,
        list,
      )
    }
  }

  /** Ids and stored lengths of all blobs, for `verify`. */
  list(): { id: BlobId; storedBytes: number }[] {
    return this.#db.all('SELECT id, stored FROM blobs ORDER BY id').map((row) => ({
      id: asBlobId(text(row, 'id')),
      storedBytes: integer(row, 'stored'),
    }))
  }
}

function toPlace(id: BlobId, row: Row): BlobPlace {
  const codec = CODEC_NAMES.get(integer(row, 'codec'))
  invariant(codec !== undefined, 'the index names a codec of the store')
  return {
    id,
    codec,
    pack: integer(row, 'pack'),
    at: integer(row, 'at'),
    sizeBytes: integer(row, 'size'),
    storedBytes: integer(row, 'stored'),
    inner: row.inner === null ? null : integer(row, 'inner'),
    base: row.base === null ? null : asBlobId(text(row, 'base')),
    depth: integer(row, 'depth'),
  }
}

function asBlobId(value: string): BlobId {
  invariant(isBlobId(value), 'the index holds blob ids')
  return value
}
