import type { MachineId, ProjectId, RemotePolicy, RestoreId, TurnId, WorkspaceId } from '@turnback/core'
import type { Restore, Role } from '@turnback/core/api'
import { and, desc, eq, gte, isNotNull, lt, lte, or, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { machines, workspaces } from '#db/schema/machines.ts'
import { projectMembers } from '#db/schema/projects.ts'
import { restores } from '#db/schema/restores.ts'
import { turns } from '#db/schema/turns.ts'

export type RestoreRow = typeof restores.$inferSelect

export async function insertRestore(db: Connection, row: typeof restores.$inferInsert): Promise<void> {
  await db.insert(restores).values(row)
}

/** Holds the row until the transaction ends: steps go one after another. */
export async function lockRestore(db: Connection, id: RestoreId): Promise<RestoreRow | null> {
  const [row] = await db.select().from(restores).where(eq(restores.id, id)).for('update')
  return row ?? null
}

export async function updateRestore(
  db: Connection,
  id: RestoreId,
  change: Partial<Omit<RestoreRow, 'id'>>,
): Promise<void> {
  await db.update(restores).set(change).where(eq(restores.id, id))
}

/** Restores whose present state has run out. */
export async function listOverdue(db: Connection, now: Date): Promise<RestoreId[]> {
  const rows = await db
    .select({ id: restores.id })
    .from(restores)
    .where(and(isNotNull(restores.expiresAt), lte(restores.expiresAt, now)))
    .limit(100)
  return rows.map((row) => row.id)
}

export async function countRequestedSince(db: Connection, machine: MachineId, since: Date): Promise<number> {
  const [row] = await db
    .select({ count: sql<number>`count(*)::int` })
    .from(restores)
    .where(and(eq(restores.machineId, machine), isNotNull(restores.request), gte(restores.createdAt, since)))
  return row?.count ?? 0
}

/** A workspace in one of the person's projects, with what decides who may restore there. */
export async function findTargetFor(db: Connection, personId: string, id: WorkspaceId) {
  const [row] = await db
    .select({
      project: workspaces.projectId,
      machine: machines.id,
      ownerId: machines.ownerId,
      revokedAt: machines.revokedAt,
      role: projectMembers.role,
    })
    .from(workspaces)
    .innerJoin(machines, eq(machines.id, workspaces.machineId))
    .innerJoin(
      projectMembers,
      and(eq(projectMembers.projectId, workspaces.projectId), eq(projectMembers.userId, personId)),
    )
    .where(eq(workspaces.id, id))
  return row ?? null
}

export async function hasTurn(db: Connection, workspace: WorkspaceId, turn: TurnId): Promise<boolean> {
  const [row] = await db
    .select({ id: turns.id })
    .from(turns)
    .where(and(eq(turns.id, turn), eq(turns.workspaceId, workspace)))
  return row !== undefined
}

const wireColumns = {
  restore: restores,
  machineName: machines.name,
  machinePolicy: machines.remotePolicy,
  onlineUntil: machines.onlineUntil,
  ownerId: machines.ownerId,
  revokedAt: machines.revokedAt,
}

export interface VisibleRestore {
  readonly wire: Restore
  readonly ownerId: string
  readonly role: Role
}

/** A restore in one of the person's projects. */
export async function findRestoreFor(
  db: Connection,
  personId: string,
  id: RestoreId,
  now: Date,
): Promise<VisibleRestore | null> {
  const [row] = await db
    .select({ ...wireColumns, role: projectMembers.role })
    .from(restores)
    .innerJoin(machines, eq(machines.id, restores.machineId))
    .innerJoin(
      projectMembers,
      and(eq(projectMembers.projectId, restores.projectId), eq(projectMembers.userId, personId)),
    )
    .where(eq(restores.id, id))
  return row === undefined ? null : { wire: toWire(row, now), ownerId: row.ownerId, role: row.role }
}

/** Newest first. */
export async function listRestoresOf(
  db: Connection,
  project: ProjectId,
  page: { before: { createdAt: Date; id: RestoreId } | null; limit: number; now: Date },
): Promise<Restore[]> {
  const { before } = page
  const isOlder =
    before === null
      ? undefined
      : or(
          lt(restores.createdAt, before.createdAt),
          and(eq(restores.createdAt, before.createdAt), lt(restores.id, before.id)),
        )
  const rows = await db
    .select(wireColumns)
    .from(restores)
    .innerJoin(machines, eq(machines.id, restores.machineId))
    .where(and(eq(restores.projectId, project), isOlder))
    .orderBy(desc(restores.createdAt), desc(restores.id))
    .limit(page.limit)
  return rows.map((row) => toWire(row, page.now))
}

function toWire(
  row: {
    restore: RestoreRow
    machineName: string
    machinePolicy: RemotePolicy | null
    onlineUntil: Date | null
  },
  now: Date,
): Restore {
  const { restore } = row
  return {
    id: restore.id,
    status: restore.status,
    project: restore.projectId,
    workspace: restore.workspaceId,
    machine: restore.machineId,
    machineName: row.machineName,
    machineOnline: row.onlineUntil !== null && row.onlineUntil > now,
    machinePolicy: row.machinePolicy,
    turn: restore.turnId,
    request: restore.request,
    requestedBy: restore.requestedBy,
    createdAt: restore.createdAt.toISOString(),
    updatedAt: restore.updatedAt.toISOString(),
    plan: restore.plan,
    report: restore.report,
    error: restore.error,
  }
}
