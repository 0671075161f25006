import type { Db, Tx } from './client.ts'

/** Runs `work` in one transaction. Inside it: SQL only; nothing is sent, hashed or published. */
export function inTx<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction(work)
}
