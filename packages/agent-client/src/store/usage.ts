import type { WorkspaceId } from '@turnback/core'
import { BLOBS_WITH_BLOCKS, BlobMarks, DISK_BYTES } from './blob-marks.ts'
import type { Database } from './database.ts'
import type { SqliteLog } from './log.ts'
import { integer } from './rows.ts'

/** What bytes come to, from what people wrote to what lies on the disk. */
export interface Bytes {
  /** Different contents. */
  readonly blobs: number
  /** Their lengths together: each content once, however often it was seen. */
  readonly contentBytes: number
  /** What they take in packs, compressed and as differences. */
  readonly storedBytes: number
}

export interface WorkspaceUsage extends Bytes {
  readonly turns: number
  /** When the oldest turn that can be undone began; null without turns. */
  readonly oldestTurn: { readonly number: number; readonly startedAt: string } | null
  /** Turns that retention removed. */
  readonly removedTurns: number
  readonly pinnedTurns: number
  /** Every file as often as it was captured: what copies would take. */
  readonly originalBytes: number
  /** What goes when this workspace goes: no other one needs it. */
  readonly ownBytes: number
}

export interface Usage {
  readonly workspaces: ReadonlyMap<WorkspaceId, WorkspaceUsage>
  /** Of all that is in the store; a content that two workspaces have counts once. */
  readonly total: Bytes
  /** In no use any more, and not removed yet. */
  readonly unused: Bytes
}

/** Counts what the store holds. Reads everything that names a blob, so it takes a moment. */
export function readUsage(db: Database, log: SqliteLog): Usage {
  const marks = new BlobMarks(db, log)
  return db.snapshot(() => {
    db.exec(`CREATE TEMP TABLE IF NOT EXISTS used(
      workspace TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY(workspace, id)) STRICT, WITHOUT ROWID;
      DELETE FROM temp.used`)
    const ids = log.listWorkspaces().map(({ id }) => id)
    for (const id of ids) {
      marks.collect(id)
      db.run('INSERT INTO temp.used SELECT ?, id FROM temp.marked', id)
    }
    marks.collect()
    const total = sum(db, '')
    return {
      workspaces: new Map(ids.map((id) => [id, readWorkspace(db, id)])),
      total,
      unused: sum(db, 'WHERE b.id NOT IN (SELECT id FROM temp.marked)'),
    }
  })
}

function sum(db: Database, where: string, ...values: string[]): Bytes {
  const row = db.get(
    `SELECT COUNT(*) AS blobs, COALESCE(SUM(b.size), 0) AS content, COALESCE(SUM(${DISK_BYTES}), 0) AS stored
      FROM ${BLOBS_WITH_BLOCKS} ${where}`,
    ...values,
  )
  return {
    blobs: integer(row ?? {}, 'blobs'),
    contentBytes: Number(row?.content ?? 0),
    storedBytes: Math.round(Number(row?.stored ?? 0)),
  }
}

function readWorkspace(db: Database, workspace: WorkspaceId): WorkspaceUsage {
  const mine = 'WHERE b.id IN (SELECT id FROM temp.used WHERE workspace = ?)'
  const own = `${mine} AND b.id NOT IN (SELECT id FROM temp.used WHERE workspace <> ?)`
  const count = (sql: string) => integer(db.get(sql, workspace) ?? {}, 'n')
  const oldest = db.get(
    `SELECT number, started_at FROM turns t WHERE workspace = ?
      AND (is_open = 1 OR end_scan > COALESCE((SELECT scan FROM gaps g WHERE g.workspace = t.workspace), 0))
      ORDER BY number LIMIT 1`,
    workspace,
  )
  return {
    turns: count('SELECT COUNT(*) AS n FROM turns WHERE workspace = ?'),
    oldestTurn:
      oldest === undefined
        ? null
        : { number: integer(oldest, 'number'), startedAt: String(oldest.started_at) },
    removedTurns: count('SELECT COUNT(*) AS n FROM removed_turns WHERE workspace = ?'),
    pinnedTurns: count('SELECT COUNT(*) AS n FROM turns WHERE workspace = ? AND pinned = 1'),
    ...sum(db, mine, workspace),
    originalBytes: readOriginal(db, workspace),
    ownBytes: sum(db, own, workspace, workspace).storedBytes,
  }
}

/** The tree as it is, and every state that a change put another one in the place of. */
function readOriginal(db: Database, workspace: WorkspaceId): number {
  const row = db.get(
    `SELECT
      (SELECT COALESCE(SUM(each.value ->> 4), 0) FROM known_folders, json_each(entries) each
        WHERE workspace = ?1 AND each.value ->> 1 = 'f')
      + (SELECT COALESCE(SUM(before ->> '$.sizeBytes'), 0) FROM changes
        WHERE workspace = ?1 AND before ->> '$.kind' = 'file') AS bytes`,
    workspace,
  )
  return Number(row?.bytes ?? 0)
}
