import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))
/** Any number, the same in each instance: those that start together wait for the one that migrates. */
const LOCK = 7_236_451

/** Brings the schema up to date. Several instances may call it at once. */
export async function migrateDatabase(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    await sql`select pg_advisory_lock(${LOCK})`
    await migrate(drizzle(sql), { migrationsFolder: FOLDER })
  } finally {
    // The lock goes with the connection.
    await sql.end({ timeout: 5 })
  }
}
