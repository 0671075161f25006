import { createHash } from 'node:crypto'
import { constants, zstdCompressSync } from 'node:zlib'
import {
  type BlobId,
  type Change,
  invariant,
  type RelPath,
  type RestoreDetail,
  type RestoreReport,
  type State,
  type TurnId,
  type WorkspaceId,
} from '@turnback/core'
import type {
  CaptureLog,
  ClosedTurn,
  KnownFolder,
  KnownTree,
  Missed,
  NewChange,
  NewTurn,
  TurnFacts,
} from '#capture-ports.ts'
import type { AgentProcess, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import type { Database } from './database.ts'
import { dropFirstReads, loadFirstReads, type ReadFiles, saveFirstReads } from './first-reads.ts'
import type { KnownTrees } from './known-tree.ts'
import { toChange, toTurnRow } from './log-rows.ts'
import { processes } from './process.ts'
import { id, integer, jsonOrNull, text, textOrNull } from './rows.ts'

const ZSTD_LEVEL = 3
/** What an event does to the count of tools that run. */
const IN_FLIGHT: Record<ToolEvent['type'], string> = {
  // A prompt that is queued while the turn runs ends no tool.
  'turn.start': 'tools_in_flight',
  'tool.before': 'tools_in_flight + 1',
  'tool.after': 'MAX(tools_in_flight - 1, 0)',
  'turn.end': '0',
  'session.end': '0',
}

export class SqliteCaptureLog implements CaptureLog {
  readonly #db: Database
  readonly #known: KnownTrees

  constructor(db: Database, known: KnownTrees) {
    this.#db = db
    this.#known = known
  }

  afterCommit(work: () => void): void {
    this.#db.afterCommit(work)
  }

  insertWorkspace(workspace: Workspace, idKey: Uint8Array): void {
    const { id: name, root, device, inode, project, createdAt } = workspace
    this.#db.run(
      'INSERT INTO workspaces(id, root, device, inode, name, project, created_at, id_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      name,
      root,
      device,
      inode,
      workspace.name,
      project,
      createdAt,
      idKey,
    )
  }

  setProject(workspace: WorkspaceId, project: string): void {
    this.#db.run('UPDATE workspaces SET project = ? WHERE id = ?', project, workspace)
  }

  loadKnown(workspace: WorkspaceId): KnownTree {
    return this.#known.load(workspace)
  }

  saveKnown(workspace: WorkspaceId, folders: ReadonlyMap<RelPath, KnownFolder | null>): void {
    this.#known.save(workspace, folders)
  }

  loadFirstReads(workspace: WorkspaceId): ReadFiles {
    return loadFirstReads(this.#db, workspace)
  }

  saveFirstReads(workspace: WorkspaceId, files: ReadFiles): void {
    saveFirstReads(this.#db, workspace, files)
  }

  dropFirstReads(workspace: WorkspaceId): void {
    dropFirstReads(this.#db, workspace)
  }

  summariseKnown(workspace: WorkspaceId) {
    return this.#known.summarise(workspace)
  }

  renameKnown(workspace: WorkspaceId, names: ReadonlyMap<RelPath, ReadonlyMap<BlobId, BlobId>>): void {
    this.#known.rename(workspace, names)
  }

  listSealedPaths(workspace: WorkspaceId): Set<RelPath> {
    const rows = this.#db.all('SELECT path FROM sealed_paths WHERE workspace = ?', workspace)
    return new Set(rows.map((row) => text(row, 'path')))
  }

  addSealedPaths(workspace: WorkspaceId, paths: readonly RelPath[]): void {
    const sql = 'INSERT OR IGNORE INTO sealed_paths(workspace, path) VALUES (?, ?)'
    for (const path of paths) this.#db.run(sql, workspace, path)
  }

  peekScan(workspace: WorkspaceId): number {
    return this.#counter(workspace, 'next_scan')
  }

  takeScan(workspace: WorkspaceId): number {
    const scan = this.#counter(workspace, 'next_scan')
    this.#db.run('UPDATE workspaces SET next_scan = next_scan + 1 WHERE id = ?', workspace)
    return scan
  }

  insertTurn(turn: NewTurn): number {
    const number = this.#counter(turn.workspace, 'next_number')
    this.#db.run('UPDATE workspaces SET next_number = next_number + 1 WHERE id = ?', turn.workspace)
    this.#db.run(
      `INSERT INTO turns(id, workspace, number, kind, session, key, agent_name, agent_version, prompt, label, task,
        started_at, is_open, begin_scan, head_before, branch, operation, paths, late_start, incomplete, agent_pid,
        agent_started, agent_space, boot, unseen, missed)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      turn.turn,
      turn.workspace,
      number,
      turn.kind,
      turn.session,
      turn.key,
      turn.agent?.name ?? null,
      turn.agent?.version ?? null,
      turn.prompt,
      turn.label,
      turn.task,
      turn.startedAt,
      turn.beginScan,
      turn.headBefore,
      turn.branch,
      turn.operation,
      turn.paths === null ? null : JSON.stringify(turn.paths),
      turn.lateStart ? 1 : 0,
      turn.incomplete,
      turn.agentProcess?.pid ?? null,
      turn.agentProcess?.started ?? null,
      turn.agentProcess?.space ?? '',
      processes.boot(),
      turn.isUnseen ? 1 : 0,
      turn.missed === null ? null : JSON.stringify(turn.missed),
    )
    return number
  }

  getFacts(turn: TurnId): TurnFacts {
    const row = this.#db.get('SELECT * FROM turns WHERE id = ?', turn)
    invariant(row !== undefined, 'the turn is in the log')
    return {
      lateEnd: row.late_end === 1,
      agentVersion: textOrNull(row, 'agent_version'),
      agentModel: textOrNull(row, 'agent_model'),
      operation: textOrNull(row, 'operation'),
      lateStart: row.late_start === 1,
      incomplete: textOrNull(row, 'incomplete'),
      lastMessage: textOrNull(row, 'last_message'),
      missed: jsonOrNull<Missed>(row, 'missed'),
    }
  }

  closeTurn(closed: ClosedTurn): void {
    this.#db.run(
      `UPDATE turns SET is_open = 0, tools_in_flight = 0, ended_at = ?, end_reason = ?, late_end = ?, head_after = ?, branch = ?,
        last_message = ?, end_scan = ?, incomplete = COALESCE(incomplete, ?), entries = ?, created = ?, changed = ?, deleted = ?, skipped = ? WHERE id = ?`,
      closed.endedAt,
      closed.endReason,
      closed.lateEnd ? 1 : 0,
      closed.headAfter,
      closed.branch,
      closed.lastMessage,
      closed.endScan,
      closed.incomplete,
      closed.entries,
      closed.created,
      closed.changed,
      closed.deleted,
      closed.skipped,
      closed.turn,
    )
  }

  extendTurn(
    turn: TurnId,
    endScan: number,
    { entries, created, changed, deleted }: Parameters<CaptureLog['extendTurn']>[2],
  ): void {
    const sql =
      'UPDATE turns SET end_scan = ?, entries = ?, created = ?, changed = ?, deleted = ? WHERE id = ?'
    this.#db.run(sql, endScan, entries, created, changed, deleted, turn)
  }

  insertEvent({ turn, atMs, type, tool, command, paths, outside, nextScan }: ToolEvent): void {
    this.#db.run(
      'INSERT INTO events(turn, at_ms, type, tool, command, paths, outside, next_scan) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      turn,
      atMs,
      type,
      tool,
      command,
      JSON.stringify(paths),
      outside.length === 0 ? null : JSON.stringify(outside),
      nextScan,
    )
    this.#db.run(`UPDATE turns SET tools_in_flight = ${IN_FLIGHT[type]} WHERE id = ?`, turn)
    this.touchTurn(turn, atMs)
  }

  touchTurn(turn: TurnId, atMs: number): void {
    // News may come in another order than things happened.
    this.#db.run(
      'UPDATE turns SET last_event_ms = MAX(COALESCE(last_event_ms, 0), ?), boot = ? WHERE id = ?',
      atMs,
      processes.boot(),
      turn,
    )
  }

  setAgent(turn: TurnId, { pid, started, boot, space }: AgentProcess): void {
    this.#db.run(
      'UPDATE turns SET agent_pid = ?, agent_started = ?, agent_space = ?, boot = ? WHERE id = ?',
      pid,
      started,
      space,
      boot,
      turn,
    )
  }

  markSeen(workspace: WorkspaceId): void {
    this.#db.run('UPDATE turns SET unseen = 0 WHERE workspace = ? AND is_open = 1 AND unseen = 1', workspace)
  }

  peekEvents(): number {
    const row = this.#db.get('SELECT COALESCE(MAX(rowid), 0) AS last FROM events')
    return row === undefined ? 0 : integer(row, 'last')
  }

  carryEvents(workspace: WorkspaceId, scan: number, after: number): void {
    this.#db.run(
      `UPDATE events SET next_scan = ? WHERE next_scan = ? AND +rowid > ?
        AND turn IN (SELECT id FROM turns WHERE workspace = ? AND is_open = 1)`,
      scan + 1,
      scan,
      after,
      workspace,
    )
  }

  findLastClosed(workspace: WorkspaceId, session: string): TurnRow | null {
    const row = this.#db.get(
      'SELECT * FROM turns WHERE workspace = ? AND session = ? AND is_open = 0 ORDER BY number DESC LIMIT 1',
      workspace,
      session,
    )
    return row === undefined ? null : toTurnRow(row)
  }

  listChangesOf(turn: TurnRow): Change[] {
    const rows = this.#db.all(
      `SELECT c.*, t.kind AS kind, t.session AS session FROM changes c JOIN turns t ON t.id = c.turn
        WHERE c.workspace = ? AND c.scan >= ? AND (c.turn = ? OR c.shared_by IS NOT NULL) ORDER BY c.scan, c.path`,
      turn.workspace,
      turn.beginScan,
      turn.turn,
    )
    return rows
      .map(toChange)
      .filter((change) => change.turn === turn.turn || change.sharedBy.includes(turn.turn))
  }

  insertChanges(workspace: WorkspaceId, changes: readonly NewChange[]): void {
    for (const { path, scan, turn, source, sharedBy, before, after } of changes) {
      this.#db.run(
        'INSERT INTO changes(workspace, path, scan, turn, source, shared_by, before, after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        workspace,
        path,
        scan,
        turn,
        source,
        sharedBy.length === 0 ? null : JSON.stringify(sharedBy),
        JSON.stringify(before),
        JSON.stringify(after),
      )
    }
  }

  replaceStates(workspace: WorkspaceId, path: RelPath, scan: number, before: State, after: State): void {
    this.#db.run(
      'UPDATE changes SET before = ?, after = ? WHERE workspace = ? AND path = ? AND scan = ?',
      JSON.stringify(before),
      JSON.stringify(after),
      workspace,
      path,
      scan,
    )
  }

  listUnsigned(workspace: WorkspaceId): TurnRow[] {
    const rows = this.#db.all(
      `SELECT * FROM turns WHERE workspace = ? AND is_open = 0
        AND NOT EXISTS (SELECT 1 FROM envelopes e WHERE e.turn = turns.id) ORDER BY number`,
      workspace,
    )
    return rows.map(toTurnRow)
  }

  isSigned(turn: TurnId): boolean {
    return this.#db.get('SELECT 1 FROM envelopes WHERE turn = ?', turn) !== undefined
  }

  hasLaterTurn({ workspace, number }: TurnRow): boolean {
    const sql = "SELECT 1 FROM turns WHERE workspace = ? AND number > ? AND kind IN ('agent', 'task') LIMIT 1"
    return this.#db.get(sql, workspace, number) !== undefined
  }

  listOverlaps(turn: TurnRow): TurnId[] {
    const rows = this.#db.all(
      `SELECT id FROM turns WHERE workspace = ? AND id <> ? AND kind IN ('agent', 'task')
        AND (end_scan IS NULL OR end_scan > ?) AND (? IS NULL OR begin_scan < ?) ORDER BY number`,
      turn.workspace,
      turn.turn,
      turn.beginScan,
      turn.endScan,
      turn.endScan,
    )
    return rows.map((row) => id(row, 'id', 't'))
  }

  peekChain(workspace: WorkspaceId): { seq: number; prev: string | null } {
    const row = this.#db.get('SELECT next_seq, head_sha256 FROM workspaces WHERE id = ?', workspace)
    invariant(row !== undefined, 'the workspace is in the log')
    return { seq: integer(row, 'next_seq'), prev: textOrNull(row, 'head_sha256') }
  }

  insertEnvelope(
    turn: TurnId,
    workspace: WorkspaceId,
    seq: number,
    prev: string | null,
    envelope: Uint8Array,
  ): void {
    const sha256 = createHash('sha256').update(envelope).digest('hex')
    this.#db.run(
      'INSERT INTO envelopes(turn, workspace, seq, prev, sha256, zstd) VALUES (?, ?, ?, ?, ?, ?)',
      turn,
      workspace,
      seq,
      prev,
      sha256,
      zstdCompressSync(envelope, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
    )
    this.#db.run(
      'UPDATE workspaces SET next_seq = ?, head_sha256 = ? WHERE id = ?',
      seq + 1,
      sha256,
      workspace,
    )
  }

  insertRestore(workspace: WorkspaceId, turn: TurnId, detail: RestoreDetail, report: RestoreReport): void {
    this.#db.run(
      'INSERT INTO restores(turn, workspace, scan, detail, report) VALUES (?, ?, ?, ?, ?)',
      turn,
      workspace,
      detail.scan,
      JSON.stringify(detail),
      JSON.stringify(report),
    )
  }

  insertReport(workspace: WorkspaceId, report: RestoreReport, madeAt: string): void {
    this.#db.run(
      'INSERT OR REPLACE INTO reports(restore, workspace, turn, report, made_at) VALUES (?, ?, ?, ?, ?)',
      report.restore,
      workspace,
      report.turn,
      JSON.stringify(report),
      madeAt,
    )
  }

  #counter(workspace: WorkspaceId, column: 'next_scan' | 'next_number'): number {
    const row = this.#db.get(`SELECT ${column} FROM workspaces WHERE id = ?`, workspace)
    invariant(row !== undefined, 'the workspace is in the log')
    return integer(row, column)
  }
}
