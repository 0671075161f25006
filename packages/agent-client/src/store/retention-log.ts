import type {
  KeptRestore,
  KeptTurn,
  RestoreDetail,
  RetentionInput,
  TurnKind,
  WorkspaceId,
} from '@turnback/core'
import type { Database } from './database.ts'
import { findGap } from './gap-rows.ts'
import { id, integer, json, text, textOrNull } from './rows.ts'

/** What retention has to know of a workspace's log to choose where it is cut. */
export function readRetentionInput(
  db: Database,
  workspace: WorkspaceId,
  how: { readonly nowMs: number; readonly isLoggedIn: boolean },
): RetentionInput {
  const gapScan = findGap(db, workspace)?.scan ?? 0
  return {
    turns: listKeptTurns(db, workspace, gapScan, how.isLoggedIn),
    restores: listKeptRestores(db, workspace),
    nowMs: how.nowMs,
  }
}

/** A look that followed its end may have found more of a turn than its row's last scan says. */
const LAST_SCANS = `SELECT turn, MAX(scan) AS last FROM (
    SELECT turn, scan FROM changes WHERE workspace = ?1
    UNION ALL SELECT each.value, scan FROM changes, json_each(shared_by) each
      WHERE workspace = ?1 AND shared_by IS NOT NULL) GROUP BY turn`

function listKeptTurns(
  db: Database,
  workspace: WorkspaceId,
  gapScan: number,
  isLoggedIn: boolean,
): KeptTurn[] {
  const lastScans = new Map(
    db.all(LAST_SCANS, workspace).map((row) => [text(row, 'turn'), integer(row, 'last')]),
  )
  const sql = `SELECT t.id, t.kind, t.begin_scan, t.end_scan, t.ended_at, t.is_open, t.pinned,
      e.turn IS NOT NULL AS signed, e.pushed_at
    FROM turns t LEFT JOIN envelopes e ON e.turn = t.id
    WHERE t.workspace = ? AND (t.is_open = 1 OR t.end_scan > ?)`
  return db.all(sql, workspace, gapScan).map((row) => {
    const turn = id(row, 'id', 't')
    const isOpen = row.is_open === 1
    return {
      turn,
      // Written from a turn's own row.
      kind: text(row, 'kind') as TurnKind,
      beginScan: integer(row, 'begin_scan'),
      endScan: isOpen ? null : Math.max(integer(row, 'end_scan'), lastScans.get(turn) ?? 0),
      endedMs: isOpen ? null : Date.parse(text(row, 'ended_at')),
      isPinned: row.pinned === 1,
      isSent: row.signed === 1 && (!isLoggedIn || textOrNull(row, 'pushed_at') !== null),
    }
  })
}

function listKeptRestores(db: Database, workspace: WorkspaceId): KeptRestore[] {
  const sql = `SELECT r.turn, r.scan, r.detail, t.ended_at FROM restores r JOIN turns t ON t.id = r.turn
    WHERE r.workspace = ?`
  return db.all(sql, workspace).map((row) => {
    const scan = integer(row, 'scan')
    const { popped, putBack } = json<RestoreDetail>(row, 'detail')
    const needs = [...popped, ...putBack].reduce((low, ref) => Math.min(low, ref.scan), scan)
    return { turn: id(row, 'turn', 't'), scan, endedMs: Date.parse(text(row, 'ended_at')), needs }
  })
}
