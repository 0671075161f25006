import { and, eq, isNull, lt, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { idempotencyKeys } from '#db/schema/idempotency.ts'

type NewKey = Omit<typeof idempotencyKeys.$inferInsert, 'answer'>

/** Makes the row, or takes over one that is older than `staleBefore`. True for exactly one of many at once. */
export async function insertKey(db: Connection, row: NewKey, staleBefore: Date): Promise<boolean> {
  const made = await db
    .insert(idempotencyKeys)
    .values({ ...row, answer: null })
    .onConflictDoUpdate({
      target: idempotencyKeys.id,
      set: { ...row, answer: null },
      setWhere: lt(idempotencyKeys.createdAt, staleBefore),
    })
    .returning({ id: idempotencyKeys.id })
  return made.length === 1
}

export async function findKey(db: Connection, id: Uint8Array) {
  const [row] = await db.select().from(idempotencyKeys).where(eq(idempotencyKeys.id, id))
  return row ?? null
}

/** Takes the key from a try that is no longer at work. False when another was faster. */
export async function takeOverKey(
  db: Connection,
  id: Uint8Array,
  from: string,
  to: { requestId: string; busyUntil: Date },
): Promise<boolean> {
  const taken = await db
    .update(idempotencyKeys)
    .set(to)
    .where(and(isHeldBy(id, from), isNull(idempotencyKeys.answer)))
    .returning({ id: idempotencyKeys.id })
  return taken.length === 1
}

export async function setAnswer(
  db: Connection,
  id: Uint8Array,
  requestId: string,
  answer: Uint8Array,
): Promise<void> {
  await db.update(idempotencyKeys).set({ answer }).where(isHeldBy(id, requestId))
}

export async function setBusyUntil(
  db: Connection,
  id: Uint8Array,
  requestId: string,
  busyUntil: Date,
): Promise<void> {
  await db.update(idempotencyKeys).set({ busyUntil }).where(isHeldBy(id, requestId))
}

export async function deleteKeysBefore(db: Connection, before: Date): Promise<void> {
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before))
}

function isHeldBy(id: Uint8Array, requestId: string) {
  return sql`${eq(idempotencyKeys.id, id)} and ${eq(idempotencyKeys.requestId, requestId)}`
}
