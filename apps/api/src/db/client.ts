import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import postgres from 'postgres'

export type Db = PostgresJsDatabase<Record<string, never>>
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]
/** First argument of every query: the pool, or the transaction it is to be part of. Never left out. */
export type Connection = Db | Tx

export interface Database {
  readonly db: Db
  /** The driver itself, for LISTEN and NOTIFY. */
  readonly sql: postgres.Sql
  close(): Promise<void>
}

/** Opens a pool. Nothing is connected before the first query. */
export function openDatabase(url: string, options: { maxConnections?: number } = {}): Database {
  const sql = postgres(url, {
    max: options.maxConnections ?? 10,
    connect_timeout: 10,
    onnotice: () => undefined,
    connection: { application_name: 'turnback' },
  })
  return { db: drizzle(sql, { casing: 'snake_case' }), sql, close: () => sql.end({ timeout: 5 }) }
}
