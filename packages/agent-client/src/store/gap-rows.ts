import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { ListedPath, Listing, RelPath, TurnId, TurnKind, WorkspaceId } from '@turnback/core'
import type { GapRow, ListedTurnRow, RemovedTurnRow } from '#ports.ts'
import type { Database } from './database.ts'
import { bytes, id, integer, text, textOrNull } from './rows.ts'

const ZSTD_LEVEL = 3

/** What is left of the part of a log that retention removed. */
export function findGap(db: Database, workspace: WorkspaceId): GapRow | null {
  const row = db.get('SELECT scan, seq, sha256 FROM gaps WHERE workspace = ?', workspace)
  if (row === undefined) return null
  return { scan: integer(row, 'scan'), seq: integer(row, 'seq'), sha256: textOrNull(row, 'sha256') }
}

export function listRemovedTurns(db: Database, workspace: WorkspaceId): RemovedTurnRow[] {
  return db.all('SELECT * FROM removed_turns WHERE workspace = ? ORDER BY number', workspace).map((row) => ({
    turn: id(row, 'turn', 't'),
    number: integer(row, 'number'),
    // Written from a turn's own row.
    kind: text(row, 'kind') as TurnKind,
    session: textOrNull(row, 'session'),
    beginScan: integer(row, 'begin_scan'),
    hasChanges: true,
    paths: null,
    isUndone: row.is_undone === 1,
    headAfter: textOrNull(row, 'head_after'),
    branch: textOrNull(row, 'branch'),
  }))
}

export function insertRemovedTurn(db: Database, workspace: WorkspaceId, removed: RemovedTurnRow): void {
  db.run(
    `INSERT OR REPLACE INTO removed_turns(turn, workspace, number, kind, session, begin_scan, is_undone, head_after, branch)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[removed.turn, workspace, removed.number, removed.kind, removed.session, removed.beginScan],
    ...[removed.isUndone ? 1 : 0, removed.headAfter, removed.branch],
  )
  // Its place in the chain, as long as its envelope is there.
  db.run(
    `UPDATE removed_turns SET (seq, prev, sha256, pushed_at) =
        (SELECT seq, prev, sha256, pushed_at FROM envelopes e WHERE e.turn = removed_turns.turn)
      WHERE turn = ?`,
    removed.turn,
  )
}

export function listListed(db: Database, workspace: WorkspaceId): ListedTurnRow[] {
  const sql = 'SELECT turn, undone_by, undone_number, undone FROM listings WHERE workspace = ?'
  return db.all(sql, workspace).map((row) => ({
    turn: id(row, 'turn', 't'),
    undoneBy:
      row.undone_by === null
        ? null
        : {
            restore: id(row, 'undone_by', 't'),
            number: integer(row, 'undone_number'),
            isWhole: text(row, 'undone') === 'yes',
          },
  }))
}

export function findListing(db: Database, turn: TurnId): Listing | null {
  const row = db.get('SELECT zstd FROM listings WHERE turn = ?', turn)
  return row === undefined ? null : unpackListing(bytes(row, 'zstd'))
}

export function putListing(
  db: Database,
  workspace: WorkspaceId,
  scan: number,
  { turn, undoneBy }: ListedTurnRow,
  listing: Listing,
): void {
  db.run(
    `INSERT OR REPLACE INTO listings(turn, workspace, scan, undone_by, undone_number, undone, zstd)
      VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ...[turn, workspace, scan, undoneBy?.restore ?? null, undoneBy?.number ?? null],
    ...[undoneBy === null ? null : undoneBy.isWhole ? 'yes' : 'partly', packListing(listing)],
  )
}

function packListing(listing: Listing): Uint8Array {
  const json = JSON.stringify([...listing].map(([path, { state, later }]) => [path, state, later]))
  return zstdCompressSync(json, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
}

export function unpackListing(zstd: Uint8Array): Listing {
  const rows = JSON.parse(zstdDecompressSync(zstd).toString('utf8')) as [
    RelPath,
    ListedPath['state'],
    ListedPath['later'],
  ][]
  return new Map(rows.map(([path, state, later]) => [path, { state, later }]))
}
