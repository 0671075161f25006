import type { Change, RelPath, WorkspaceId } from '@turnback/core'
import type { Database } from './database.ts'
import { toChange } from './log-rows.ts'
import { text } from './rows.ts'

const CHANGES = `SELECT c.*, t.kind AS kind, t.session AS session FROM changes c JOIN turns t ON t.id = c.turn
  WHERE c.workspace = ?`

export function listChanges(db: Database, workspace: WorkspaceId, paths?: readonly RelPath[]): Change[] {
  if (paths === undefined) return db.all(`${CHANGES} ORDER BY c.scan, c.path`, workspace).map(toChange)
  // Sorted here: asked to do it, SQLite would go through the whole log in the order of scans.
  const sql = `${CHANGES} AND c.path IN (SELECT value FROM json_each(?))`
  const changes = db.all(sql, workspace, JSON.stringify(paths)).map(toChange)
  return changes.sort((a, b) => a.scan - b.scan)
}

export function listChangesSince(db: Database, workspace: WorkspaceId, scan: number): Change[] {
  return db.all(`${CHANGES} AND c.scan >= ? ORDER BY c.scan, c.path`, workspace, scan).map(toChange)
}

export function listPathsSince(db: Database, workspace: WorkspaceId, scan: number): RelPath[] {
  const sql = 'SELECT DISTINCT path FROM changes WHERE workspace = ? AND scan >= ?'
  return db.all(sql, workspace, scan).map((row) => text(row, 'path'))
}
