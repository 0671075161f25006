import { sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { turns } from '#db/schema/turns.ts'

/** Fails when the database is away or has not the tables that this version reads. */
export async function probeDatabase(db: Connection): Promise<void> {
  await db.select({ one: sql`1` }).from(turns).limit(1)
}
