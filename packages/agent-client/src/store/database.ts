import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { DomainError } from '@turnback/core'
import { orUnusable } from '#unusable.ts'
import { MIGRATIONS } from './schema.ts'
import { fromSqlite } from './sqlite-fault.ts'

/** Milliseconds that a writer waits for another process's transaction. They are short. */
const BUSY_MS = 10_000

type Row = Record<string, unknown>

/**
 * The log's file. Thin on purpose: statements are prepared once, transactions are immediate and join when nested,
 * and what SQLite says is turned into errors of the catalogue.
 */
export class Database {
  readonly #file: string
  #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0
  #isReading = false
  #afterCommit: (() => void)[] = []
  #afterRollback: (() => void)[] = []

  /**
   * @param mode `read` for a thread beside the one that opened the store, and brought it up, before; `write-or-alone` for
   * a process that is soon over: on a full disk it keeps the others out
   */
  constructor(folder: string, mode: 'write' | 'write-or-alone' | 'read' = 'write') {
    const file = join(folder, 'turnback.db')
    this.#file = file
    if (mode === 'read') {
      this.#db = this.#translate(() => new DatabaseSync(file, { timeout: BUSY_MS, readOnly: true }))
      return
    }
    // SQLite gives its other files the mode that this one has.
    closeSync(orUnusable(file, () => openSync(file, 'a', 0o600)))
    this.#db = this.#translate(() => new DatabaseSync(file, { timeout: BUSY_MS }))
    // Before anything else is said to it: what a newer client wrote is left as it is.
    const version = mode === 'write' ? this.#readVersion() : this.#readVersionAlone()
    if (typeof version !== 'number' || version > MIGRATIONS.length) {
      this.#db.close()
      throw new DomainError('STORE_NEWER', { found: version, known: MIGRATIONS.length })
    }
    // FULL: when a commit returns, the turn is on the disk.
    this.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000')
    if (version < MIGRATIONS.length) this.#migrate()
  }

  #readVersion(): unknown {
    return this.get('PRAGMA user_version')?.user_version
  }

  /**
   * On a full disk the index that processes share has no room, unless one of them holds it already. One that is alone
   * with the store needs none.
   */
  #readVersionAlone(): unknown {
    try {
      return this.#readVersion()
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'STORE_FULL') throw error
      this.close()
      this.#db = this.#translate(() => new DatabaseSync(this.#file, { timeout: BUSY_MS }))
      this.exec('PRAGMA locking_mode = EXCLUSIVE')
      return this.#readVersion()
    }
  }

  #migrate(): void {
    this.transact(() => {
      // Read again inside the transaction: another process may have done it meanwhile.
      const version = Number(this.get('PRAGMA user_version')?.user_version)
      for (const statements of MIGRATIONS.slice(version)) this.#db.exec(statements)
      this.#db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
    })
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#translate(() => this.#prepare(sql).get(...values))
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#translate(() => this.#prepare(sql).all(...values))
  }

  /** @returns how many rows were changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return this.#translate(() => Number(this.#prepare(sql).run(...values).changes))
  }

  /** Runs `work` once the transaction that is open now is kept; never when it is not. */
  afterCommit(work: () => void): void {
    this.#afterCommit.push(work)
  }

  /** Runs `work` if the transaction that is open now is not kept. */
  afterRollback(work: () => void): void {
    this.#afterRollback.push(work)
  }

  get isInTransaction(): boolean {
    return this.#depth > 0
  }

  /** Another value than before says that another connection has written since; our own writes do not change it. */
  get foreignVersion(): number {
    return Number(this.get('PRAGMA data_version')?.data_version)
  }

  transact<T>(work: () => T): T {
    if (this.#depth > 0) return work()
    this.#translate(() => this.#db.exec('BEGIN IMMEDIATE'))
    this.#depth++
    this.#afterCommit = []
    this.#afterRollback = []
    let result: T
    try {
      result = work()
      this.#translate(() => this.#db.exec('COMMIT'))
    } catch (error) {
      // SQLite rolls back by itself on some errors; then there is nothing to roll back.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      for (const step of this.#afterRollback) step()
      throw error
    } finally {
      this.#depth--
    }
    runAll(this.#afterCommit)
    return result
  }

  /** Runs `work`, which only reads, on the store as it is now, whatever others write meanwhile. Temporary tables may be written. */
  snapshot<T>(work: () => T): T {
    if (this.#depth > 0 || this.#isReading) return work()
    this.#translate(() => this.#db.exec('BEGIN'))
    this.#isReading = true
    try {
      return work()
    } finally {
      this.#isReading = false
      this.#endReading()
    }
  }

  /** What was only read is none the worse for it: but no transaction may stay open. */
  #endReading(): void {
    try {
      this.#db.exec('COMMIT')
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      if (this.#db.isTransaction) throw error
    }
  }

  /** Inside a {@link Database.snapshot} that is one for speed only: from here on the store as it is now. */
  renewSnapshot(): void {
    if (this.#isReading) this.#translate(() => this.#db.exec('COMMIT; BEGIN'))
  }

  /** Statements without values, several at once. */
  exec(sql: string): void {
    this.#translate(() => this.#db.exec(sql))
  }

  /** A transaction that need not outlive a loss of power: nobody waits for the disk. Not inside another one. */
  transactLoosely<T>(work: () => T): T {
    if (this.#depth > 0) return this.transact(work)
    this.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transact(work)
    } finally {
      this.exec('PRAGMA synchronous = FULL')
    }
  }

  get isOpen(): boolean {
    return this.#db.isOpen
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  #translate<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw fromSqlite(error, this.#file)
    }
  }

  #prepare(sql: string): StatementSync {
    const found = this.#statements.get(sql)
    if (found !== undefined) return found
    const made = this.#db.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }
}

/** All of them, whatever becomes of one: each stands for itself, and what was kept is kept. */
function runAll(steps: readonly (() => void)[]): void {
  const failed = steps.flatMap((step) => {
    try {
      step()
      return []
    } catch (error) {
      return [error]
    }
  })
  if (failed.length > 0) throw failed[0]
}
