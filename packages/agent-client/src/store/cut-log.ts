import {
  extendListing,
  liveStacks,
  type RemovedSpan,
  type RestoreFacts,
  rememberRemoved,
  type TurnId,
  undoneMarks,
  type WorkspaceId,
} from '@turnback/core'
import type { ListedTurnRow, TurnRow } from '#ports.ts'
import type { Database } from './database.ts'
import { findGap, findListing, insertRemovedTurn, listListed, putListing } from './gap-rows.ts'
import type { SqliteLog } from './log.ts'
import { toChange } from './log-rows.ts'
import { integer, text } from './rows.ts'

/** What one cut took away. */
export interface CutTally {
  readonly turns: number
  readonly changes: number
}

export interface CutParts {
  readonly db: Database
  readonly log: SqliteLog
  /** All restores of the workspace, with those that are gone and still give a mark. */
  readonly listRestoreFacts: (workspace: WorkspaceId) => RestoreFacts[]
}

/** A pinned turn, and a checkpoint that nobody let go, list themselves when what came after them is removed. */
const IS_LISTED = "(pinned = 1 OR (kind = 'checkpoint' AND pinned = 0))"

const CHANGES_UP_TO = `SELECT c.*, t.kind AS kind, t.session AS session FROM changes c JOIN turns t ON t.id = c.turn
  WHERE c.workspace = ? AND c.scan <= ? ORDER BY c.scan, c.path`

/**
 * Removes everything of a workspace's log up to a scan: changes, restores, events, envelopes and turns. What checkpoints
 * and pinned turns need of it, they list before. All in one transaction; nobody may be planning a restore meanwhile.
 * @param scan one of core's clean cuts: no turn and no restore straddles it
 */
export function cutLog(parts: CutParts, workspace: WorkspaceId, scan: number, madeAt: string): CutTally {
  const { db } = parts
  return db.transact(() => {
    const going = listGoing(parts, workspace, scan)
    writeListings(parts, workspace, scan)
    rememberGoing(parts, workspace, going)
    const changes = db.run('DELETE FROM changes WHERE workspace = ? AND scan <= ?', workspace, scan)
    db.run('DELETE FROM restores WHERE workspace = ? AND scan <= ?', workspace, scan)
    putGap(parts, workspace, scan, going, madeAt)
    for (const { turn } of going) removeTurn(db, turn)
    return { turns: going.length, changes }
  })
}

/** Lets go of turns before the gap that are not pinned any more. @returns how many */
export function dropReleased(parts: CutParts, workspace: WorkspaceId): number {
  const { db } = parts
  const gap = findGap(db, workspace)
  if (gap === null) return 0
  return db.transact(() => {
    const released = listGoing(parts, workspace, gap.scan)
    rememberGoing(parts, workspace, released)
    for (const { turn } of released) removeTurn(db, turn)
    return released.length
  })
}

/** Closed turns up to the scan that list nothing of themselves. */
function listGoing({ db, log }: CutParts, workspace: WorkspaceId, scan: number): TurnRow[] {
  const sql = `SELECT id FROM turns WHERE workspace = ? AND is_open = 0 AND end_scan <= ? AND NOT ${IS_LISTED}`
  const ids = new Set(db.all(sql, workspace, scan).map((row) => text(row, 'id')))
  return log.listTurns(workspace).filter((turn) => ids.has(turn.turn))
}

function writeListings(parts: CutParts, workspace: WorkspaceId, scan: number): void {
  const { db, log } = parts
  const sql = `SELECT id FROM turns WHERE workspace = ? AND is_open = 0 AND begin_scan < ? AND end_scan <= ? AND ${IS_LISTED}`
  const ids = new Set(db.all(sql, workspace, scan, scan).map((row) => text(row, 'id')))
  if (ids.size === 0) return
  const turns = log.listTurns(workspace)
  const numbers = new Map(
    [...log.listRemovedTurns(workspace), ...turns].map((turn) => [turn.turn, turn.number]),
  )
  const span = readSpan(parts, workspace, scan, (turn) => numbers.get(turn) ?? 0)
  const known = new Map(listListed(db, workspace).map((listed) => [listed.turn, listed]))
  const restores = parts.listRestoreFacts(workspace)
  const marks = undoneMarks(restores)
  for (const row of turns.filter((turn) => ids.has(turn.turn))) {
    const facts = { ...row, hasChanges: row.entries > 0 }
    const listing = extendListing(findListing(db, row.turn) ?? new Map(), facts, span)
    const undoneBy = known.get(row.turn)?.undoneBy ?? findMarkThatGoes(row, scan, parts, workspace, restores)
    const isStill = marks.has(row.turn)
    putListing(db, workspace, scan, { turn: row.turn, undoneBy: isStill ? undoneBy : null }, listing)
  }
}

/** The latest restore that marks the turn and goes with this cut. */
function findMarkThatGoes(
  row: TurnRow,
  scan: number,
  { db }: CutParts,
  workspace: WorkspaceId,
  restores: readonly RestoreFacts[],
): ListedTurnRow['undoneBy'] {
  const going = new Set(
    db
      .all('SELECT turn FROM restores WHERE workspace = ? AND scan <= ?', workspace, scan)
      .map((each) => text(each, 'turn')),
  )
  const marking = restores.findLast((restore) => going.has(restore.turn) && restore.of.includes(row.turn))
  if (marking === undefined) return null
  return { restore: marking.turn, number: marking.number, isWhole: marking.isWhole }
}

function readSpan(
  { db, log }: CutParts,
  workspace: WorkspaceId,
  scan: number,
  numberOf: (turn: TurnId) => number,
): RemovedSpan {
  const changes = db.all(CHANGES_UP_TO, workspace, scan).map(toChange)
  const written = log
    .listRestores(workspace)
    .filter(({ detail }) => detail.scan <= scan)
    .flatMap(({ turn, detail }) =>
      log.getManifest(turn).entries.map(({ path, before }) => ({ path, scan: detail.scan, before })),
    )
  return {
    scan,
    changes,
    written,
    live: liveStacks(changes, log.listRestoreEvents(workspace)),
    numberOf,
  }
}

function rememberGoing(parts: CutParts, workspace: WorkspaceId, going: readonly TurnRow[]): void {
  const rows = new Map(going.map((row) => [row.turn, row]))
  const facts = going.map((row) => ({ ...row, hasChanges: row.entries > 0 }))
  for (const { isUndone, ...turn } of rememberRemoved(facts, parts.listRestoreFacts(workspace))) {
    const row = rows.get(turn.turn)
    insertRemovedTurn(parts.db, workspace, {
      ...turn,
      isUndone,
      headAfter: row?.headAfter ?? null,
      branch: row?.branch ?? null,
    })
  }
}

/** Where the chain goes on: the last envelope that is gone. */
function putGap(
  { db }: CutParts,
  workspace: WorkspaceId,
  scan: number,
  going: readonly TurnRow[],
  madeAt: string,
): void {
  const ids = JSON.stringify(going.map((row) => row.turn))
  const last = db.get(
    'SELECT seq, sha256 FROM envelopes WHERE turn IN (SELECT value FROM json_each(?)) ORDER BY seq DESC LIMIT 1',
    ids,
  )
  const before = findGap(db, workspace)
  const isLater = last !== undefined && integer(last, 'seq') > (before?.seq ?? 0)
  db.run(
    'INSERT OR REPLACE INTO gaps(workspace, scan, seq, sha256, made_at) VALUES (?, ?, ?, ?, ?)',
    ...[workspace, scan],
    ...(isLater ? [integer(last, 'seq'), text(last, 'sha256')] : [before?.seq ?? 0, before?.sha256 ?? null]),
    madeAt,
  )
}

function removeTurn(db: Database, turn: TurnId): void {
  db.run('DELETE FROM events WHERE turn = ?', turn)
  db.run('DELETE FROM checklist_news WHERE turn = ?', turn)
  db.run('DELETE FROM envelopes WHERE turn = ?', turn)
  db.run('DELETE FROM listings WHERE turn = ?', turn)
  db.run('DELETE FROM facts WHERE key = ?', `sync.failures.${turn}`)
  db.run('DELETE FROM turns WHERE id = ?', turn)
}
