import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { DomainError } from '@turnback/core'
import { orStoreFault } from './pack-writer.ts'
import { MIGRATIONS } from './schema.ts'

/** Milliseconds that a writer waits for another process's transaction. They are short. */
const BUSY_MS = 10_000
const SQLITE_BUSY = 5
const SQLITE_FULL = 13
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26

type Row = Record<string, unknown>

/**
 * The log's file. Thin on purpose: statements are prepared once, transactions are immediate and join when nested,
 * and what SQLite says is turned into errors of the catalogue.
 */
export class Database {
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  #depth = 0
  #isReading = false
  #afterCommit: (() => void)[] = []
  #afterRollback: (() => void)[] = []

  /** @param mode `read` for a thread beside the one that opened the store, and brought it up, before */
  constructor(folder: string, mode: 'write' | 'read' = 'write') {
    const file = join(folder, 'turnback.db')
    if (mode === 'read') {
      this.#db = translate(() => new DatabaseSync(file, { timeout: BUSY_MS, readOnly: true }))
      return
    }
    // SQLite gives its other files the mode that this one has.
    closeSync(orStoreFault(() => openSync(file, 'a', 0o600)))
    this.#db = translate(() => new DatabaseSync(file, { timeout: BUSY_MS }))
    // Before anything else is said to it: what a newer client wrote is left as it is.
    const version = this.get('PRAGMA user_version')?.user_version
    if (typeof version !== 'number' || version > MIGRATIONS.length) {
      this.#db.close()
      throw new DomainError('STORE_NEWER', { found: version, known: MIGRATIONS.length })
    }
    // FULL: when a commit returns, the turn is on the disk.
    this.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32000')
    if (version < MIGRATIONS.length) this.#migrate()
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
    return translate(() => this.#prepare(sql).get(...values))
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return translate(() => this.#prepare(sql).all(...values))
  }

  /** @returns how many rows were changed */
  run(sql: string, ...values: SQLInputValue[]): number {
    return translate(() => Number(this.#prepare(sql).run(...values).changes))
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
    translate(() => this.#db.exec('BEGIN IMMEDIATE'))
    this.#depth++
    this.#afterCommit = []
    this.#afterRollback = []
    let result: T
    try {
      result = work()
      translate(() => this.#db.exec('COMMIT'))
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
    translate(() => this.#db.exec('BEGIN'))
    this.#isReading = true
    try {
      return work()
    } finally {
      this.#isReading = false
      this.#db.exec('COMMIT')
    }
  }

  /** Statements without values, several at once. */
  exec(sql: string): void {
    translate(() => this.#db.exec(sql))
  }

  /** A transaction that need not outlive a loss of power: nobody waits for the disk. Not inside another one. */
  transactLoosely<T>(work: () => T): T {
    if (this.#depth > 0) return this.transact(work)
    this.#db.exec('PRAGMA synchronous = NORMAL')
    try {
      return this.transact(work)
    } finally {
      this.#db.exec('PRAGMA synchronous = FULL')
    }
  }

  get isOpen(): boolean {
    return this.#db.isOpen
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
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

function translate<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') throw cause
    // The low byte is the kind; the rest says more of it.
    switch (cause.errcode & 0xff) {
      case SQLITE_FULL:
        throw new DomainError('STORE_FULL', {}, { cause })
      case SQLITE_BUSY:
        throw new DomainError('STORE_LOCKED', {}, { cause })
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        throw new DomainError('STORE_CORRUPT', { why: cause.message }, { cause })
      case SQLITE_IOERR:
        // What a full disk looks like while the write-ahead log grows.
        throw new DomainError('STORE_FULL', { why: cause.message }, { cause })
      default:
        throw cause
    }
  }
}
