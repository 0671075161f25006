import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import {
  type BlobId,
  blobIdSchema,
  CODECS,
  type Codec,
  DomainError,
  PACK_MAGIC,
  writeBlockHeader,
  writeFrameHeader,
} from '@turnback/core'
import { BlobMarks } from './blob-marks.ts'
import type { PackedBlobs } from './blob-store.ts'
import type { Database } from './database.ts'
import type { SqliteLog } from './log.ts'
import type { PackFolder } from './pack-folder.ts'
import { integer, integerOrNull, type Row, text } from './rows.ts'

const ROWS_AT_ONCE = 1_000
const PIECE_BYTES = 1024 * 1024
const CODEC_NAMES = new Map<number, Codec>(
  Object.entries(CODECS).map(([name, number]) => [number, name as Codec]),
)

export interface VerifyParts {
  readonly db: Database
  readonly log: SqliteLog
  readonly packs: PackFolder
  readonly blobs: PackedBlobs
  readonly isChosen: (id: BlobId) => boolean
  readonly progress: (blobs: number) => void
}

export interface BlobVerdict {
  readonly blobs: number
  readonly bytes: number
  /** In the index or named by the log, and not to be had. */
  readonly missing: BlobId[]
  /** There, and not what they should be. */
  readonly corrupt: BlobId[]
  /** Pack files that do not begin as packs do. */
  readonly packs: string[]
}

/** Reads blobs in the order in which they lie, with memory for one at a time. */
export function verifyBlobs(parts: VerifyParts): BlobVerdict {
  const { db, isChosen } = parts
  const verdict = {
    blobs: 0,
    bytes: 0,
    missing: [] as BlobId[],
    corrupt: [] as BlobId[],
    packs: listBadPacks(parts),
  }
  const frames = new FrameCheck(parts)
  const bad = new Set<string>()
  try {
    for (const row of rowsInOrder(db)) {
      const parsed = blobIdSchema.safeParse(row.id)
      if (!parsed.success) {
        verdict.corrupt.push(String(row.id) as BlobId)
        continue
      }
      const id = parsed.data
      if (!isChosen(id)) continue
      verdict.blobs++
      const state = frames.look(row) ? readWhole(parts, id, row) : 'corrupt'
      if (typeof state === 'number') verdict.bytes += state
      else {
        bad.add(id)
        // A frame that is not there at all was lost with its pack, or with the end of it.
        const isLost = state === 'missing' || frames.isLost(row)
        verdict[isLost ? 'missing' : 'corrupt'].push(id)
      }
      parts.progress(verdict.blobs)
    }
  } finally {
    frames.close()
  }
  for (const id of listUnlisted(parts)) if (isChosen(id) && !bad.has(id)) verdict.missing.push(id)
  return verdict
}

function* rowsInOrder(db: Database): Generator<Row> {
  let after: [number, number, string] = [-1, -1, '']
  for (;;) {
    const rows = db.all(
      `SELECT id, pack, at, codec, size, stored, inner, crc FROM blobs
        WHERE (pack, at, id) > (?, ?, ?) ORDER BY pack, at, id LIMIT ${ROWS_AT_ONCE}`,
      ...after,
    )
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = [integer(last, 'pack'), integer(last, 'at'), text(last, 'id')]
  }
}

/** The blob's length, or why it is not to be had. */
function readWhole({ blobs }: VerifyParts, id: BlobId, row: Row): number | 'missing' | 'corrupt' {
  let bytes = 0
  try {
    blobs.readPieces(id, (piece) => {
      bytes += piece.length
    })
  } catch (error) {
    if (error instanceof DomainError && error.code === 'BLOB_NOT_FOUND') return 'missing'
    // An index that was altered by hand can lead anywhere: whatever comes of it, the blob is not to be had by it.
    return 'corrupt'
  }
  return bytes === integer(row, 'size') ? bytes : 'corrupt'
}

/** What the log names and the index does not know. */
function listUnlisted({ db, log }: VerifyParts): BlobId[] {
  const marks = new BlobMarks(db, log)
  try {
    marks.collect()
  } catch (error) {
    // Rows that cannot be read are told by the look at the log.
    if (error instanceof Error) return []
    throw error
  }
  return db
    .all('SELECT id FROM temp.marked WHERE id NOT IN (SELECT id FROM blobs) ORDER BY id')
    .flatMap((row) => blobIdSchema.safeParse(row.id).data ?? [])
}

function listBadPacks({ db, packs }: VerifyParts): string[] {
  return db
    .all('SELECT name, bytes FROM packs WHERE bytes > 0 ORDER BY id')
    .map((row) => text(row, 'name'))
    .filter((name) => {
      const fd = openPack(packs, name)
      if (fd === null) return true
      try {
        return readAt(fd, 0, PACK_MAGIC.length)?.toString('latin1') !== PACK_MAGIC
      } finally {
        closeSync(fd)
      }
    })
}

/** Compares frames with what the index says of them, each once: what is around the bytes, and their checksum. */
class FrameCheck {
  readonly #parts: VerifyParts
  #pack = -1
  #fd: number | null = null
  #last: { readonly key: string; readonly isSound: boolean; readonly isLost: boolean } | null = null

  constructor(parts: VerifyParts) {
    this.#parts = parts
  }

  look(row: Row): boolean {
    return this.#judge(row).isSound
  }

  isLost(row: Row): boolean {
    return this.#judge(row).isLost
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd)
    this.#fd = null
  }

  #judge(row: Row): { isSound: boolean; isLost: boolean } {
    const isInner = row.inner !== null
    // Blobs of one block share its frame.
    const key = `${row.pack}:${row.at}:${isInner ? '' : row.id}`
    if (this.#last?.key === key) return this.#last
    const fd = this.#open(integer(row, 'pack'))
    const frame = isInner ? this.#blockOf(row) : frameOf(row)
    const judged = fd === null ? LOST : frame === null ? CORRUPT : compare(fd, integer(row, 'at'), frame)
    this.#last = { key, ...judged }
    return judged
  }

  #open(pack: number): number | null {
    if (pack === this.#pack) return this.#fd
    this.close()
    this.#pack = pack
    const name = this.#parts.db.get('SELECT name FROM packs WHERE id = ?', pack)?.name
    this.#fd = typeof name === 'string' ? openPack(this.#parts.packs, name) : null
    return this.#fd
  }

  #blockOf(row: Row): FrameFacts | null {
    const block = this.#parts.db.get(
      'SELECT size, stored, crc FROM blocks WHERE pack = ? AND at = ?',
      integer(row, 'pack'),
      integer(row, 'at'),
    )
    if (block === undefined) return null
    const [size, stored] = [integer(block, 'size'), integer(block, 'stored')]
    if (!isLength(size) || !isLength(stored)) return null
    return { header: writeBlockHeader(size, stored), stored, crc: integerOrNull(block, 'crc') }
  }
}

const SOUND = { isSound: true, isLost: false }
const LOST = { isSound: false, isLost: true }
const CORRUPT = { isSound: false, isLost: false }

interface FrameFacts {
  readonly header: Uint8Array
  readonly stored: number
  readonly crc: number | null
}

function frameOf(row: Row): FrameFacts | null {
  const codec = CODEC_NAMES.get(integer(row, 'codec'))
  const [sizeBytes, storedBytes] = [integer(row, 'size'), integer(row, 'stored')]
  if (codec === undefined || !isLength(sizeBytes) || !isLength(storedBytes)) return null
  const id = blobIdSchema.parse(row.id)
  const header = writeFrameHeader({ id, codec, sizeBytes, storedBytes })
  return { header, stored: storedBytes, crc: integerOrNull(row, 'crc') }
}

const isLength = (value: number): boolean => value >= 0 && value <= 0xffff_ffff

function compare(fd: number, at: number, { header, stored, crc }: FrameFacts): typeof SOUND {
  if (at < header.length) return CORRUPT
  const found = readAt(fd, at - header.length, header.length)
  if (found === null) return LOST
  let sum = 0
  for (let done = 0; done < stored; done += PIECE_BYTES) {
    const piece = readAt(fd, at + done, Math.min(PIECE_BYTES, stored - done))
    if (piece === null) return LOST
    sum = crc32(piece, sum)
  }
  return found.equals(header) && (crc === null || crc === sum) ? SOUND : CORRUPT
}

/** Null when the file ends before. */
function readAt(fd: number, at: number, length: number): Buffer | null {
  const buffer = Buffer.alloc(length)
  let read = 0
  while (read < length) {
    const count = readSync(fd, buffer, read, length - read, at + read)
    if (count === 0) return null
    read += count
  }
  return buffer
}

function openPack(packs: PackFolder, name: string): number | null {
  for (const folder of [packs.packs, packs.tmp, packs.packs]) {
    try {
      return openSync(join(folder, name), 'r')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    }
  }
  return null
}
