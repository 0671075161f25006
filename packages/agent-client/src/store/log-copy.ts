import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Database } from './database.ts'
import { KnownTrees } from './known-tree.ts'
import { SqliteLog } from './log.ts'
import type { PackFolder } from './pack-folder.ts'

export interface LogCopy {
  /** The folder that it lies in. */
  readonly store: string
  readonly db: Database
  readonly log: SqliteLog
}

/** Runs `work` on a copy of the log as it is now, which is gone afterwards. */
export async function withLogCopy<T>(
  from: { readonly db: Database; readonly packs: PackFolder },
  work: (copy: LogCopy) => Promise<T>,
): Promise<T> {
  const store = from.packs.makeTemporaryFolder()
  try {
    const file = join(store, 'turnback.db')
    // Made here, because SQLite would leave it to the umask who may read it; it takes an empty one.
    closeSync(openSync(file, 'wx', 0o600))
    from.db.exec(`VACUUM INTO '${file.replaceAll("'", "''")}'`)
    const db = new Database(store)
    try {
      return await work({ store, db, log: new SqliteLog(db, new KnownTrees(db)) })
    } finally {
      db.close()
    }
  } finally {
    rmSync(store, { recursive: true, force: true })
  }
}
