import { zstdDecompressSync } from 'node:zlib'
import {
  type Change,
  DomainError,
  limits,
  parseEnvelopeHeader,
  type RelPath,
  type RestoreEvent,
  type RestoreId,
  type Tree,
  type TurnId,
  type TurnManifest,
  type WorkspaceId,
} from '@turnback/core'
import { PURGED } from '#gap-ports.ts'
import type {
  HeadItem,
  JournalRow,
  Log,
  OutboxItem,
  PlanRow,
  ReportItem,
  RestoreRow,
  ToolEvent,
  TurnRow,
  Workspace,
} from '#ports.ts'
import { listChanges, listChangesSince, listPathsSince } from './change-rows.ts'
import type { Database } from './database.ts'
import { findGap, findListing, listListed, listRemovedTurns } from './gap-rows.ts'
import type { KnownTrees } from './known-tree.ts'
import { toOutboxItem, toPlan, toReportItem, toToolEvent, toTurnRow, toWorkspace } from './log-rows.ts'
import { RestoreRows } from './restore-rows.ts'
import { bytes, id, integer, json, parseOwn, text } from './rows.ts'
import { TreeView } from './tree-view.ts'

/** Facts that wait to be sent, one per workspace at most. */
const HEAD_KEY = 'head.'

export class SqliteLog implements Log {
  protected readonly db: Database
  readonly #known: KnownTrees
  readonly #restores: RestoreRows

  constructor(db: Database, known: KnownTrees) {
    this.db = db
    this.#known = known
    this.#restores = new RestoreRows(db)
  }

  transact<T>(work: () => T): T {
    return this.db.transact(work)
  }

  listWorkspaces(): Workspace[] {
    return this.db.all('SELECT * FROM workspaces ORDER BY created_at, id').map(toWorkspace)
  }

  findWorkspace(workspace: WorkspaceId): Workspace | null {
    const row = this.db.get('SELECT * FROM workspaces WHERE id = ?', workspace)
    return row === undefined ? null : toWorkspace(row)
  }

  listTurns(workspace: WorkspaceId): TurnRow[] {
    return this.db.all('SELECT * FROM turns WHERE workspace = ? ORDER BY number', workspace).map(toTurnRow)
  }

  findTurn(turn: TurnId): TurnRow | null {
    const row = this.db.get('SELECT * FROM turns WHERE id = ?', turn)
    return row === undefined ? null : toTurnRow(row)
  }

  listOpenTurns(workspace: WorkspaceId): TurnRow[] {
    const sql = 'SELECT * FROM turns WHERE workspace = ? AND is_open = 1 ORDER BY number'
    return this.db.all(sql, workspace).map(toTurnRow)
  }

  listToolEvents(turn: TurnId): ToolEvent[] {
    return this.db.all('SELECT * FROM events WHERE turn = ? ORDER BY rowid', turn).map(toToolEvent)
  }

  /** What this machine made and signed itself, so it is read back as it is. */
  getManifest(turn: TurnId): TurnManifest {
    const envelope = zstdDecompressSync(this.getEnvelopeZstd(turn), { maxOutputLength: limits.envelopeBytes })
    const header = parseEnvelopeHeader(envelope)
    if (header === null) throw new DomainError('STORE_CORRUPT', { turn })
    return parseOwn<TurnManifest>(envelope.subarray(header.bodyOffset).toString('utf8'))
  }

  listChanges(workspace: WorkspaceId, paths?: readonly RelPath[]): Change[] {
    return listChanges(this.db, workspace, paths)
  }

  listChangesSince(workspace: WorkspaceId, scan: number): Change[] {
    return listChangesSince(this.db, workspace, scan)
  }

  listPathsSince(workspace: WorkspaceId, scan: number): RelPath[] {
    return listPathsSince(this.db, workspace, scan)
  }

  listRestoreEvents(workspace: WorkspaceId): RestoreEvent[] {
    return this.listRestores(workspace).map(({ turn, detail }) => {
      const { scan, popped, putBack, pushed } = detail
      return { turn, scan, popped, putBack, pushed }
    })
  }

  findGap(workspace: WorkspaceId) {
    return findGap(this.db, workspace)
  }

  listRemovedTurns(workspace: WorkspaceId) {
    return listRemovedTurns(this.db, workspace)
  }

  listListed(workspace: WorkspaceId) {
    return listListed(this.db, workspace)
  }

  findListing(turn: TurnId) {
    return findListing(this.db, turn)
  }

  setPinned(turn: TurnId, isPinned: boolean): void {
    // A checkpoint keeps itself without a pin: only a word to the contrary lets it go.
    const released = "CASE kind WHEN 'checkpoint' THEN -1 ELSE 0 END"
    const sql = `UPDATE turns SET pinned = ${isPinned ? '1' : released} WHERE id = ?`
    this.transact(() => this.db.run(sql, turn))
  }

  listRestores(workspace: WorkspaceId): RestoreRow[] {
    return this.#restores.list(workspace)
  }

  getKnownTree(workspace: WorkspaceId): Tree {
    return new TreeView(this.#known.load(workspace))
  }

  isSealedPath(workspace: WorkspaceId, path: RelPath): boolean {
    return (
      this.db.get('SELECT 1 FROM sealed_paths WHERE workspace = ? AND path = ?', workspace, path) !==
      undefined
    )
  }

  findJournal(workspace: WorkspaceId): JournalRow | null {
    const row = this.db.get('SELECT * FROM journal WHERE workspace = ?', workspace)
    if (row === undefined) return null
    return {
      workspace,
      restore: id(row, 'restore', 'r'),
      plan: text(row, 'plan'),
      startedAt: text(row, 'started_at'),
    }
  }

  putJournal({ workspace, restore, plan, startedAt }: JournalRow): void {
    const sql = 'INSERT OR REPLACE INTO journal(workspace, restore, plan, started_at) VALUES (?, ?, ?, ?)'
    this.transact(() => this.db.run(sql, workspace, restore, plan, startedAt))
  }

  deleteJournal(workspace: WorkspaceId): void {
    this.transact(() => this.db.run('DELETE FROM journal WHERE workspace = ?', workspace))
  }

  findPlan(token: string): PlanRow | null {
    const row = this.db.get('SELECT * FROM plans WHERE token = ?', token)
    return row === undefined ? null : toPlan(row)
  }

  findPlanOfRestore(restore: RestoreId): PlanRow | null {
    const row = this.db.get('SELECT * FROM plans WHERE restore = ? ORDER BY created_ms DESC LIMIT 1', restore)
    return row === undefined ? null : toPlan(row)
  }

  putPlan({ token, workspace, restore, request, plan, createdMs, usedMs }: PlanRow): void {
    const sql = `INSERT OR REPLACE INTO plans(token, workspace, restore, request, plan, created_ms, used_ms)
      VALUES (?, ?, ?, ?, ?, ?, ?)`
    this.transact(() => this.db.run(sql, token, workspace, restore, request, plan, createdMs, usedMs))
  }

  usePlan(token: string, nowMs: number): boolean {
    const sql = 'UPDATE plans SET used_ms = ? WHERE token = ? AND used_ms IS NULL'
    return this.transact(() => this.db.run(sql, nowMs, token) === 1)
  }

  deletePlansBefore(createdMs: number): void {
    this.transact(() => this.db.run('DELETE FROM plans WHERE created_ms < ?', createdMs))
  }

  listOutbox(workspace: WorkspaceId, limit = 1000): OutboxItem[] {
    const sql = `SELECT e.turn, e.workspace, t.kind, e.seq, e.prev, e.sha256, e.pushed_at, e.parked
        FROM envelopes e JOIN turns t ON t.id = e.turn
        WHERE e.workspace = ?1 AND e.pushed_at IS NULL
      UNION ALL SELECT turn, workspace, kind, seq, prev, sha256, pushed_at, '${PURGED}' FROM removed_turns
        WHERE workspace = ?1 AND pushed_at IS NULL AND seq IS NOT NULL
      ORDER BY seq LIMIT ?2`
    return this.db.all(sql, workspace, limit).map(toOutboxItem)
  }

  countOutbox() {
    const count = (where: string) =>
      integer(this.db.get(`SELECT COUNT(*) AS n FROM envelopes WHERE ${where}`) ?? {}, 'n')
    return { unpushed: count('pushed_at IS NULL AND parked IS NULL'), setAside: count('parked IS NOT NULL') }
  }

  listSetAside() {
    const sql =
      'SELECT turn, workspace, parked FROM envelopes WHERE parked IS NOT NULL ORDER BY workspace, seq'
    return this.db.all(sql).map((row) => ({
      turn: id(row, 'turn', 't'),
      workspace: id(row, 'workspace', 'w'),
      why: text(row, 'parked'),
    }))
  }

  findHead(workspace: WorkspaceId) {
    const sql = 'SELECT seq, sha256 FROM envelopes WHERE workspace = ? ORDER BY seq DESC LIMIT 1'
    const row = this.db.get(sql, workspace)
    return row === undefined ? null : { seq: integer(row, 'seq'), sha256: text(row, 'sha256') }
  }

  getEnvelopeZstd(turn: TurnId): Uint8Array {
    const row = this.db.get('SELECT zstd FROM envelopes WHERE turn = ?', turn)
    if (row === undefined) throw new DomainError('TURN_NOT_FOUND', { turn })
    return bytes(row, 'zstd')
  }

  markPushed(turn: TurnId, pushedAt: string): void {
    this.transact(() => {
      this.db.run('UPDATE envelopes SET pushed_at = ? WHERE turn = ?', pushedAt, turn)
      this.db.run('UPDATE removed_turns SET pushed_at = ? WHERE turn = ?', pushedAt, turn)
    })
  }

  setAside(turn: TurnId, why: string): void {
    this.transact(() => this.db.run('UPDATE envelopes SET parked = ? WHERE turn = ?', why, turn))
  }

  markAllUnpushed(forgetSetAside: boolean): void {
    this.transact(() => {
      this.db.run('UPDATE envelopes SET pushed_at = NULL')
      this.db.run('UPDATE removed_turns SET pushed_at = NULL')
      if (forgetSetAside) this.db.run('UPDATE envelopes SET parked = NULL')
      this.db.run('UPDATE reports SET pushed_at = NULL')
    })
  }

  putHeadToPush(head: HeadItem): void {
    this.putFact(`${HEAD_KEY}${head.workspace}`, JSON.stringify(head))
  }

  listHeadsToPush(): HeadItem[] {
    const sql = 'SELECT value FROM facts WHERE substr(key, 1, ?) = ? ORDER BY key'
    return this.db.all(sql, HEAD_KEY.length, HEAD_KEY).map((row) => json<HeadItem>(row, 'value'))
  }

  deleteHeadToPush(head: HeadItem): void {
    const sql = 'DELETE FROM facts WHERE key = ? AND value = ?'
    this.transact(() => this.db.run(sql, `${HEAD_KEY}${head.workspace}`, JSON.stringify(head)))
  }

  listReportsToPush(limit = 100): ReportItem[] {
    const sql = 'SELECT * FROM reports WHERE pushed_at IS NULL ORDER BY made_at LIMIT ?'
    return this.db.all(sql, limit).map(toReportItem)
  }

  listReportNamesToPush(limit = 100): RestoreId[] {
    const sql = 'SELECT restore FROM reports WHERE pushed_at IS NULL ORDER BY made_at LIMIT ?'
    return this.db.all(sql, limit).map((row) => id(row, 'restore', 'r'))
  }

  markReportPushed(restore: RestoreId, pushedAt: string): void {
    this.transact(() => this.db.run('UPDATE reports SET pushed_at = ? WHERE restore = ?', pushedAt, restore))
  }

  findFact(key: string): string | null {
    const row = this.db.get('SELECT value FROM facts WHERE key = ?', key)
    return row === undefined ? null : text(row, 'value')
  }

  putFact(key: string, value: string | null): void {
    this.transact(() => {
      if (value === null) this.db.run('DELETE FROM facts WHERE key = ?', key)
      else this.db.run('INSERT OR REPLACE INTO facts(key, value) VALUES (?, ?)', key, value)
    })
  }
}
