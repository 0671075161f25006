import type { RestoreFacts, TurnId, UndoneMark, WorkspaceId } from '@turnback/core'
import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { workspaces } from '#db/schema/machines.ts'
import { projects } from '#db/schema/projects.ts'
import { envelopes } from '#db/schema/push.ts'
import { turnEntries, turns } from '#db/schema/turns.ts'
import type { TurnProjection } from './turn-rows.ts'

/** Entries that one statement takes, as one JSON text. */
const ENTRIES_PER_STATEMENT = 5_000

export type EnvelopeRow = typeof envelopes.$inferSelect

/** Holds the workspace's chain until the transaction ends: pushes into one workspace go one after another. */
export async function lockWorkspace(db: Connection, id: WorkspaceId) {
  const [row] = await db.select().from(workspaces).where(eq(workspaces.id, id)).for('update')
  if (row === undefined) throw new Error('the workspace is gone')
  return row
}

export async function findEnvelope(db: Connection, turn: TurnId): Promise<Omit<EnvelopeRow, 'bytes'> | null> {
  const { turn: id, workspaceId, machineId, seq, type, sha256, ownSha256, receivedAt } = envelopes
  const [row] = await db
    .select({ turn: id, workspaceId, machineId, seq, type, sha256, ownSha256, receivedAt })
    .from(envelopes)
    .where(eq(envelopes.turn, turn))
  return row ?? null
}

/** The workspace of this machine whose chain ends in `sha256`. */
export async function findWorkspaceByHead(db: Connection, machine: EnvelopeRow['machineId'], sha256: string) {
  const [row] = await db
    .select()
    .from(workspaces)
    .where(and(eq(workspaces.machineId, machine), eq(workspaces.headSha256, sha256)))
  return row ?? null
}

export async function insertEnvelope(db: Connection, row: EnvelopeRow): Promise<void> {
  await db.insert(envelopes).values(row)
}

/** The envelope that a stub stood for has come after all. */
export async function replaceStub(db: Connection, row: EnvelopeRow): Promise<void> {
  await db.update(envelopes).set(row).where(eq(envelopes.turn, row.turn))
}

export async function moveHead(
  db: Connection,
  workspace: WorkspaceId,
  head: { seq: number; sha256: string },
): Promise<void> {
  await db
    .update(workspaces)
    .set({ headSeq: head.seq, headSha256: head.sha256 })
    .where(eq(workspaces.id, workspace))
}

export async function insertTurn(
  db: Connection,
  row: typeof turns.$inferInsert,
  entries: TurnProjection['entries'],
): Promise<void> {
  await db.insert(turns).values(row)
  for (let at = 0; at < entries.length; at += ENTRIES_PER_STATEMENT) {
    const some = entries.slice(at, at + ENTRIES_PER_STATEMENT)
    const text = JSON.stringify(
      some.map(({ path, before, after, source, scan, sealed }) => ({
        path,
        before,
        after,
        source,
        scan,
        sealed,
      })),
    )
    await db.execute(sql`
      insert into ${turnEntries} (turn_id, path, project_id, before, after, source, scan, is_sealed)
      select ${row.id}, e.path, ${row.projectId}, e.before, e.after, e.source, e.scan, e.sealed
      from jsonb_to_recordset(${text}::jsonb)
        as e (path text, before jsonb, after jsonb, source text, scan int, sealed boolean)`)
  }
  const last = sql`greatest(last_turn_at, ${row.endedAt.toISOString()}::timestamptz)`
  await db
    .update(workspaces)
    .set({ turnCount: sql`${workspaces.turnCount} + 1`, lastTurnAt: last })
    .where(eq(workspaces.id, row.workspaceId))
  await db
    .update(projects)
    .set({ turnCount: sql`${projects.turnCount} + 1`, lastTurnAt: last })
    .where(eq(projects.id, row.projectId))
}

/** The restores of a workspace, as far as the marks of other turns hang on them. */
export async function listRestoreFacts(db: Connection, workspace: WorkspaceId): Promise<RestoreFacts[]> {
  const rows = await db
    .select({ turn: turns.id, number: turns.number, facts: turns.restoreFacts })
    .from(turns)
    .where(and(eq(turns.workspaceId, workspace), isNotNull(turns.restoreFacts)))
  return rows.flatMap(({ turn, number, facts }) => (facts === null ? [] : [{ turn, number, ...facts }]))
}

export async function setMarks(
  db: Connection,
  workspace: WorkspaceId,
  marked: ReadonlyMap<TurnId, UndoneMark>,
): Promise<void> {
  for (const mark of ['no', 'partly', 'yes'] as const) {
    const ids = [...marked].filter(([, given]) => given === mark).map(([turn]) => turn)
    if (ids.length > 0)
      await db
        .update(turns)
        .set({ undone: mark })
        .where(and(eq(turns.workspaceId, workspace), inArray(turns.id, ids)))
  }
}
