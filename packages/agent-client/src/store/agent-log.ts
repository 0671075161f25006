import type { RestoreReport, TurnId, WorkspaceId } from '@turnback/core'
import type { AgentLog, Checklist, UntoldRestore } from '#agent-ports.ts'
import type { TurnRow } from '#ports.ts'
import type { Database } from './database.ts'
import { toTurnRow } from './log-rows.ts'
import { integer, json, jsonOrNull } from './rows.ts'

/** Prompts that wait for turns of their own; more than a person types while one runs. */
const QUEUED = 20

export class SqliteAgentLog implements AgentLog {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  listOpenOf(session: string): TurnRow[] {
    const sql = 'SELECT * FROM turns WHERE is_open = 1 AND session = ? ORDER BY started_at DESC, number DESC'
    return this.#db.all(sql, session).map(toTurnRow)
  }

  describe(turn: TurnId, { prompt, model, version, transcript }: Parameters<AgentLog['describe']>[1]): void {
    this.#db.run(
      `UPDATE turns SET prompt = COALESCE(prompt, ?), agent_version = COALESCE(agent_version, ?),
        agent_model = COALESCE(?, agent_model), transcript = COALESCE(?, transcript) WHERE id = ?`,
      prompt,
      version,
      model,
      transcript,
      turn,
    )
  }

  queuePrompt(turn: TurnId, prompt: string): void {
    const queued = this.#queued(this.#db.get('SELECT queued FROM turns WHERE id = ?', turn))
    if (queued.length >= QUEUED || queued.includes(prompt)) return
    this.#db.run('UPDATE turns SET queued = ? WHERE id = ?', JSON.stringify([...queued, prompt]), turn)
  }

  findQueued(workspace: WorkspaceId, session: string): string | null {
    const sql = 'SELECT queued FROM turns WHERE workspace = ? AND session = ? ORDER BY number DESC LIMIT 1'
    return this.#queued(this.#db.get(sql, workspace, session))[0] ?? null
  }

  markInterrupted(turn: TurnId, atMs: number): void {
    this.#db.run('UPDATE turns SET interrupted_ms = ? WHERE id = ? AND is_open = 1', atMs, turn)
  }

  insertChecklist(turn: TurnId, atMs: number, { isWhole, items }: Checklist): void {
    const sql = 'INSERT INTO checklist_news(turn, at_ms, is_whole, items) VALUES (?, ?, ?, ?)'
    this.#db.run(sql, turn, atMs, isWhole ? 1 : 0, JSON.stringify(items))
  }

  listChecklists(turn: TurnId): (Checklist & { readonly atMs: number })[] {
    return this.#db.all('SELECT * FROM checklist_news WHERE turn = ? ORDER BY rowid', turn).map((row) => ({
      atMs: integer(row, 'at_ms'),
      isWhole: row.is_whole === 1,
      items: json<Checklist['items']>(row, 'items'),
    }))
  }

  listUntold(workspace: WorkspaceId, session: string): UntoldRestore[] {
    const rows = this.#db.all(
      `SELECT r.scan, r.report FROM restores r WHERE r.workspace = ?1 AND r.scan > (
        SELECT COALESCE(MAX(told_scan), MIN(begin_scan)) FROM turns WHERE workspace = ?1 AND session = ?2)
        ORDER BY r.scan`,
      workspace,
      session,
    )
    return rows.map((row) => ({ scan: integer(row, 'scan'), report: json<RestoreReport>(row, 'report') }))
  }

  markTold(turn: TurnId, scan: number): void {
    this.#db.run('UPDATE turns SET told_scan = ? WHERE id = ?', scan, turn)
  }

  #queued(row: ReturnType<Database['get']>): string[] {
    return row === undefined ? [] : (jsonOrNull<string[]>(row, 'queued') ?? [])
  }
}
