import type { BlobId, ProjectId, WorkspaceId } from '@turnback/core'
import { and, eq, inArray, or, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { blobs, packs } from '#db/schema/push.ts'

export type BlobRow = typeof blobs.$inferSelect

export interface BlobScope {
  readonly project: ProjectId
  readonly workspace: WorkspaceId
}

/** Rows that one statement takes: bounds its text, not what can be sent. */
const ROWS_PER_STATEMENT = 2_000

/** Which of the ids this project (sealed ones: this workspace) does not hold, in the order given, each once. */
export async function listMissing(
  db: Connection,
  scope: BlobScope,
  ids: Iterable<BlobId>,
): Promise<BlobId[]> {
  const missing: BlobId[] = []
  for (const some of chunksOf([...new Set(ids)], ROWS_PER_STATEMENT)) {
    const found = await db
      .select({ id: blobs.id })
      .from(blobs)
      .where(and(ofScope(scope), inArray(blobs.id, some)))
    const here = new Set(found.map((row) => row.id))
    missing.push(...some.filter((id) => !here.has(id)))
  }
  return missing
}

export async function findBlob(db: Connection, scope: BlobScope, id: BlobId): Promise<BlobRow | null> {
  const [row] = await db
    .select()
    .from(blobs)
    .where(and(ofScope(scope), eq(blobs.id, id)))
  return row ?? null
}

/** Repeatable: what is known already stays where it is. */
export async function insertPack(
  db: Connection,
  pack: typeof packs.$inferInsert,
  rows: readonly BlobRow[],
): Promise<void> {
  await db.insert(packs).values(pack).onConflictDoNothing()
  for (const some of chunksOf(rows, ROWS_PER_STATEMENT))
    await db.insert(blobs).values(some).onConflictDoNothing()
}

function ofScope(scope: BlobScope) {
  return or(
    and(eq(blobs.scope, scope.project), sql`${blobs.id} like 'p%'`),
    and(eq(blobs.scope, scope.workspace), sql`${blobs.id} like 's%'`),
  )
}

function* chunksOf<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
