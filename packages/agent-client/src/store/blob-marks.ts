import { type State, turnIdSchema, type WorkspaceId, workspaceIdSchema } from '@turnback/core'
import type { Database } from './database.ts'
import { unpackListing } from './gap-rows.ts'
import type { SqliteLog } from './log.ts'
import { bytes, text } from './rows.ts'

/** In JSON that somebody else wrote down: a plan, a journal, a fact. */
const BLOB_IDS = /"(p[0-9a-f]{64}|s[a-z2-7]{52})"/g

/** What a blob takes on the disk, with its part of the block that it lies in. */
export const DISK_BYTES = `CASE WHEN b.inner IS NULL THEN b.stored + length(b.id) + 10
  ELSE b.stored * 1.0 * COALESCE(k.stored, b.stored) / MAX(COALESCE(k.size, b.stored), 1) END`
export const BLOBS_WITH_BLOCKS = `blobs b LEFT JOIN blocks k ON b.inner IS NOT NULL AND k.pack = b.pack AND k.at = b.at`

/**
 * Collects, in temporary tables, which blobs somebody names: `held` by what does not go with a log's beginning,
 * `named` with the last scan that needs it. Reads one state of the store, so that nothing is missed that moves from one
 * table to another meanwhile.
 */
export class BlobMarks {
  readonly #db: Database
  readonly #log: SqliteLog

  constructor(db: Database, log: SqliteLog) {
    this.#db = db
    this.#log = log
    db.exec(`
      CREATE TEMP TABLE IF NOT EXISTS held(id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS named(
        id TEXT NOT NULL, workspace TEXT NOT NULL, last INTEGER NOT NULL, PRIMARY KEY(id, workspace)) STRICT, WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS marked(id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
      CREATE TEMP TABLE IF NOT EXISTS cuts(workspace TEXT PRIMARY KEY, scan INTEGER NOT NULL) STRICT, WITHOUT ROWID;`)
  }

  /**
   * Reads the store anew.
   * @param only what this workspace names; everything when not given
   */
  collect(only?: WorkspaceId): void {
    this.#db.snapshot(() => {
      this.#db.exec(
        'DELETE FROM temp.held; DELETE FROM temp.named; DELETE FROM temp.marked; DELETE FROM temp.cuts',
      )
      for (const { id } of this.#workspaces()) {
        if (only !== undefined && id !== only) continue
        this.#holdKnown(id)
        this.#holdBeforeGap(id)
        this.#name(id)
      }
      if (only === undefined) this.#holdTexts()
      this.mark(new Map())
    })
  }

  /** Fills `marked` with what is needed when each log is cut at the scan given for it. */
  mark(cuts: ReadonlyMap<WorkspaceId, number>): void {
    this.#db.exec('DELETE FROM temp.marked; DELETE FROM temp.cuts')
    for (const [workspace, scan] of cuts)
      this.#db.run('INSERT INTO temp.cuts(workspace, scan) VALUES (?, ?)', workspace, scan)
    this.#db.exec(`
      INSERT INTO temp.marked(id) SELECT id FROM temp.held;
      INSERT OR IGNORE INTO temp.marked(id)
        SELECT n.id FROM temp.named n LEFT JOIN temp.cuts c ON c.workspace = n.workspace
        WHERE n.last > COALESCE(c.scan, -1);`)
    // A delta needs what it is against, which may be a delta itself.
    const sql = `INSERT OR IGNORE INTO temp.marked(id)
      SELECT b.base FROM temp.marked m JOIN blobs b ON b.id = m.id WHERE b.base IS NOT NULL`
    while (this.#db.run(sql) > 0);
  }

  /** What all that is marked takes on the disk. */
  markedBytes(): number {
    const sql = `SELECT SUM(${DISK_BYTES}) AS bytes FROM ${BLOBS_WITH_BLOCKS} JOIN temp.marked m ON m.id = b.id`
    return Number(this.#db.get(sql)?.bytes ?? 0)
  }

  /** Entries are arrays: name, kind, blob … (known-tree.ts). What a first capture has read so far looks the same. */
  #holdKnown(workspace: WorkspaceId): void {
    for (const table of ['known_folders', 'first_reads']) {
      this.#db.run(
        `INSERT OR IGNORE INTO temp.held(id) SELECT each.value ->> 2 FROM ${table}, json_each(entries) each
          WHERE workspace = ? AND each.value ->> 1 = 'f'`,
        workspace,
      )
    }
  }

  /** Of turns before the gap: what they listed, and what their manifests name. */
  #holdBeforeGap(workspace: WorkspaceId): void {
    for (const row of this.#db.all('SELECT zstd FROM listings WHERE workspace = ?', workspace)) {
      for (const { state, later } of unpackListing(bytes(row, 'zstd')).values()) {
        this.#hold(state)
        for (const { before, after } of later) this.#holdBoth(before, after)
      }
    }
    const sql = `SELECT t.id FROM turns t JOIN envelopes e ON e.turn = t.id JOIN gaps g ON g.workspace = t.workspace
      WHERE t.workspace = ? AND t.is_open = 0 AND t.end_scan <= g.scan`
    for (const row of this.#db.all(sql, workspace)) {
      for (const { before, after, steps } of this.#log.getManifest(turnIdSchema.parse(row.id)).entries) {
        this.#holdBoth(before, after)
        for (const step of steps ?? []) this.#holdBoth(step.before, step.after)
      }
    }
  }

  #name(workspace: WorkspaceId): void {
    this.#db.run(
      `INSERT INTO temp.named(id, workspace, last)
        SELECT id, ?1, MAX(scan) FROM (
          SELECT before ->> '$.blob' AS id, scan FROM changes WHERE workspace = ?1
          UNION ALL SELECT after ->> '$.blob', scan FROM changes WHERE workspace = ?1
          UNION ALL SELECT each.value ->> '$.before.blob', r.scan FROM restores r, json_each(r.detail, '$.pushed') each
            WHERE r.workspace = ?1
          UNION ALL SELECT each.value ->> '$.after.blob', r.scan FROM restores r, json_each(r.detail, '$.pushed') each
            WHERE r.workspace = ?1)
        WHERE id IS NOT NULL GROUP BY id`,
      workspace,
    )
  }

  #holdTexts(): void {
    const rows = this.#db.all(
      'SELECT plan AS words FROM journal UNION ALL SELECT plan FROM plans UNION ALL SELECT value FROM facts',
    )
    for (const row of rows) for (const [, id] of text(row, 'words').matchAll(BLOB_IDS)) this.#holdId(id ?? '')
  }

  #holdBoth(before: State, after: State): void {
    this.#hold(before)
    this.#hold(after)
  }

  #hold(state: State): void {
    if (state.kind === 'file') this.#holdId(state.blob)
  }

  #holdId(id: string): void {
    this.#db.run('INSERT OR IGNORE INTO temp.held(id) VALUES (?)', id)
  }

  #workspaces(): { id: WorkspaceId }[] {
    return this.#db
      .all('SELECT id FROM workspaces')
      .map((row) => ({ id: workspaceIdSchema.parse(text(row, 'id')) }))
  }
}
