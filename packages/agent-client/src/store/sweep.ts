import { BLOBS_WITH_BLOCKS, type BlobMarks, DISK_BYTES } from './blob-marks.ts'
import type { Database } from './database.ts'
import { integer } from './rows.ts'

/** So long a blob stays in any case: longer than the longest capture, so that one that is cut off can go on. */
export const GRACE_MS = 3_600_000
const IDS_AT_ONCE = 1_000

export interface SweepParts {
  readonly db: Database
  readonly marks: BlobMarks
  readonly nowMs: number
  readonly graceMs: number
  /** True when somebody captures or restores now: what it found in the index it may be about to name. */
  isAnyoneAtWork(): boolean
  /** Between steps: gives others the time, and tells whether to stop. */
  pause(): Promise<boolean>
}

export interface Swept {
  readonly blobs: number
  readonly bytes: number
}

/**
 * Notes which blobs nobody names. Nothing is removed by this: one that is found again loses the note, in the transaction
 * that names it (blob-index.ts).
 */
export function condemn({ db, marks, nowMs, graceMs }: Omit<SweepParts, 'pause' | 'isAnyoneAtWork'>): void {
  marks.collect()
  db.transact(() => {
    db.run(
      'UPDATE blobs SET condemned_ms = NULL WHERE condemned_ms IS NOT NULL AND id IN (SELECT id FROM temp.marked)',
    )
    db.run(
      `UPDATE blobs SET condemned_ms = ? WHERE condemned_ms IS NULL AND listed_ms <= ?
        AND id NOT IN (SELECT id FROM temp.marked)`,
      ...[nowMs, nowMs - graceMs],
    )
  })
}

/**
 * Removes blobs that were condemned before this is called, that nobody names still, and that nobody has found again.
 * A capture that is running may have found one and not named it yet, so nothing goes as long as one runs; it begins
 * after a step, or the step is after it.
 */
export async function sweep(parts: SweepParts): Promise<Swept> {
  const { db, marks } = parts
  for (const table of ['doomed', 'going'])
    db.exec(`CREATE TEMP TABLE IF NOT EXISTS ${table}(id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID`)
  // Both are of one moment: what is condemned later, or named later by way of the index, is seen below.
  db.snapshot(() => {
    marks.collect()
    db.exec('DELETE FROM temp.doomed')
    db.run(
      'INSERT INTO temp.doomed SELECT id FROM blobs WHERE condemned_ms IS NOT NULL AND id NOT IN (SELECT id FROM temp.marked)',
    )
  })
  const total = { blobs: 0, bytes: 0 }
  for (;;) {
    const step = sweepOnce(parts)
    if (step === null || step.blobs === 0) return total
    total.blobs += step.blobs
    total.bytes += step.bytes
    if (await parts.pause()) return total
  }
}

/** Null when somebody is at work. */
function sweepOnce({ db, isAnyoneAtWork }: SweepParts): Swept | null {
  return db.transact(() => {
    if (isAnyoneAtWork()) return null
    // What others are deltas against goes after them.
    db.exec(`
      DELETE FROM temp.going;
      INSERT INTO temp.going SELECT b.id FROM temp.doomed d JOIN blobs b ON b.id = d.id
        WHERE b.condemned_ms IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs o WHERE o.base = b.id)
        LIMIT ${IDS_AT_ONCE}`)
    const row = db.get(
      `SELECT COUNT(*) AS n, COALESCE(SUM(${DISK_BYTES}), 0) AS bytes
        FROM ${BLOBS_WITH_BLOCKS} JOIN temp.going g ON g.id = b.id`,
    )
    db.exec('DELETE FROM blobs WHERE id IN (SELECT id FROM temp.going)')
    return { blobs: integer(row ?? {}, 'n'), bytes: Math.round(Number(row?.bytes ?? 0)) }
  })
}
