import type { WorkspaceId } from '@turnback/core'
import { and, eq } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { chainHeads, envelopes } from '#db/schema/push.ts'

export type HeadRow = typeof chainHeads.$inferSelect

/** What was announced for this place of the chain, or null. */
export async function findHead(
  db: Connection,
  workspace: WorkspaceId,
  seq: number,
): Promise<Pick<HeadRow, 'sha256' | 'announcedAt'> | null> {
  const [row] = await db
    .select({ sha256: chainHeads.sha256, announcedAt: chainHeads.announcedAt })
    .from(chainHeads)
    .where(and(eq(chainHeads.workspaceId, workspace), eq(chainHeads.seq, seq)))
  return row ?? null
}

/** The hash that the chain has in this place, by what was sent; null when nothing was. */
export async function findChainSha256(
  db: Connection,
  workspace: WorkspaceId,
  seq: number,
): Promise<string | null> {
  const [row] = await db
    .select({ sha256: envelopes.sha256 })
    .from(envelopes)
    .where(and(eq(envelopes.workspaceId, workspace), eq(envelopes.seq, seq)))
  return row?.sha256 ?? null
}

/** The first word for a place stays. */
export async function insertHead(db: Connection, row: HeadRow): Promise<void> {
  await db.insert(chainHeads).values(row).onConflictDoNothing()
}
