import type { MachineId, ProjectId, RemotePolicy, WorkspaceId } from '@turnback/core'
import { and, asc, eq, exists, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { users } from '#db/schema/accounts.ts'
import { machines, requestNonces, workspaces } from '#db/schema/machines.ts'
import { projectMembers, projects } from '#db/schema/projects.ts'

export type MachineRow = typeof machines.$inferSelect

export async function findMachine(db: Connection, id: MachineId): Promise<MachineRow | null> {
  const [row] = await db.select().from(machines).where(eq(machines.id, id))
  return row ?? null
}

export async function upsertMachine(
  db: Connection,
  machine: Pick<
    MachineRow,
    'id' | 'ownerId' | 'defaultProjectId' | 'name' | 'publicKey' | 'recipient' | 'version' | 'enrolledAt'
  >,
): Promise<void> {
  const { id: _, ...renewed } = machine
  await db
    .insert(machines)
    .values(machine)
    .onConflictDoUpdate({ target: machines.id, set: { ...renewed, revokedAt: null } })
}

/** False when this nonce was seen before. */
export async function insertNonce(
  db: Connection,
  machine: MachineId,
  nonce: string,
  now: Date,
): Promise<boolean> {
  const inserted = await db
    .insert(requestNonces)
    .values({ machineId: machine, nonce, seenAt: now })
    .onConflictDoNothing()
    .returning({ nonce: requestNonces.nonce })
  return inserted.length > 0
}

export async function deleteNoncesBefore(db: Connection, before: Date): Promise<void> {
  await db.delete(requestNonces).where(lt(requestNonces.seenAt, before))
}

export interface VisibleMachine {
  readonly machine: MachineRow
  readonly ownerName: string
  readonly isOnline: boolean
}

/** A person's own machines and those that push into their projects; revoked ones are gone. */
export async function listVisibleMachines(
  db: Connection,
  personId: string,
  page: { after: MachineId | null; limit: number; now: Date },
): Promise<VisibleMachine[]> {
  const isInMyProject = db
    .select({ one: sql`1` })
    .from(workspaces)
    .innerJoin(projectMembers, eq(projectMembers.projectId, workspaces.projectId))
    .where(and(eq(workspaces.machineId, machines.id), eq(projectMembers.userId, personId)))
  const rows = await db
    .select({ machine: machines, ownerName: users.name })
    .from(machines)
    .innerJoin(users, eq(users.id, machines.ownerId))
    .where(
      and(
        isNull(machines.revokedAt),
        or(eq(machines.ownerId, personId), exists(isInMyProject)),
        page.after === null ? undefined : gt(machines.id, page.after),
      ),
    )
    .orderBy(asc(machines.id))
    .limit(page.limit)
  return rows.map((row) => ({ ...row, isOnline: isOnline(row.machine, page.now) }))
}

function isOnline(machine: Pick<MachineRow, 'onlineUntil'>, now: Date): boolean {
  return machine.onlineUntil !== null && machine.onlineUntil > now
}

/** The workspaces of these machines that a person may know of: of their own machines all, else of their projects. */
export async function listVisibleWorkspaces(db: Connection, personId: string, ids: readonly MachineId[]) {
  if (ids.length === 0) return []
  return await db
    .select({
      machine: workspaces.machineId,
      id: workspaces.id,
      project: workspaces.projectId,
      name: workspaces.name,
      root: workspaces.root,
    })
    .from(workspaces)
    .innerJoin(machines, eq(machines.id, workspaces.machineId))
    .leftJoin(
      projectMembers,
      and(eq(projectMembers.projectId, workspaces.projectId), eq(projectMembers.userId, personId)),
    )
    .where(
      and(
        inArray(workspaces.machineId, [...ids]),
        or(eq(machines.ownerId, personId), eq(projectMembers.userId, personId)),
      ),
    )
    .orderBy(asc(workspaces.name), asc(workspaces.id))
}

export async function revokeMachine(db: Connection, id: MachineId, now: Date): Promise<void> {
  await db
    .update(machines)
    .set({ revokedAt: now, linkId: null, onlineUntil: null, remotePolicy: null })
    .where(eq(machines.id, id))
}

/** The link `linkId` is the machine's now; an older one no longer counts. */
export async function markLinked(
  db: Connection,
  id: MachineId,
  link: { linkId: string; now: Date; until: Date; version: string; policy: RemotePolicy },
): Promise<void> {
  await db
    .update(machines)
    .set({
      linkId: link.linkId,
      lastSeenAt: link.now,
      onlineUntil: link.until,
      version: link.version,
      remotePolicy: link.policy,
    })
    .where(eq(machines.id, id))
}

/** False when another link has taken the machine over, or it was revoked. */
export async function markAlive(
  db: Connection,
  id: MachineId,
  link: { linkId: string; now: Date; until: Date },
): Promise<boolean> {
  const marked = await db
    .update(machines)
    .set({ lastSeenAt: link.now, onlineUntil: link.until })
    .where(and(eq(machines.id, id), eq(machines.linkId, link.linkId)))
    .returning({ id: machines.id })
  return marked.length > 0
}

export async function markUnlinked(db: Connection, id: MachineId, linkId: string, now: Date): Promise<void> {
  await db
    .update(machines)
    .set({ linkId: null, onlineUntil: null, lastSeenAt: now })
    .where(and(eq(machines.id, id), eq(machines.linkId, linkId)))
}

export async function listProjectsOfMachine(db: Connection, id: MachineId): Promise<ProjectId[]> {
  const rows = await db
    .selectDistinct({ project: workspaces.projectId })
    .from(workspaces)
    .where(eq(workspaces.machineId, id))
  return rows.map((row) => row.project)
}

export type WorkspaceRow = typeof workspaces.$inferSelect

export async function findWorkspace(db: Connection, id: WorkspaceId): Promise<WorkspaceRow | null> {
  const [row] = await db.select().from(workspaces).where(eq(workspaces.id, id))
  return row ?? null
}

/** Keeps the project of a workspace that has turns: they lie there. */
export async function upsertWorkspace(
  db: Connection,
  workspace: Pick<WorkspaceRow, 'id' | 'machineId' | 'projectId' | 'root' | 'name' | 'createdAt'>,
): Promise<{ id: ProjectId; name: string }> {
  await db
    .insert(workspaces)
    .values(workspace)
    .onConflictDoUpdate({
      target: workspaces.id,
      set: {
        root: workspace.root,
        name: workspace.name,
        projectId: sql`case when ${workspaces.headSeq} = 0 then excluded.project_id else ${workspaces.projectId} end`,
      },
      setWhere: eq(workspaces.machineId, workspace.machineId),
    })
  const [project] = await db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .innerJoin(workspaces, eq(workspaces.projectId, projects.id))
    .where(eq(workspaces.id, workspace.id))
  if (project === undefined) throw new Error('a workspace without a project')
  return project
}
