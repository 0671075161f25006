import type { ProjectId, WorkspaceId } from '@turnback/core'
import type { Project, WorkspaceSummary } from '@turnback/core/api'
import { and, asc, eq, gt } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { machines, workspaces } from '#db/schema/machines.ts'
import { projectMembers, projects } from '#db/schema/projects.ts'

const projectColumns = {
  id: projects.id,
  name: projects.name,
  role: projectMembers.role,
  createdAt: projects.createdAt,
  turnCount: projects.turnCount,
  lastTurnAt: projects.lastTurnAt,
}

export async function listProjectsOf(
  db: Connection,
  userId: string,
  page: { after: ProjectId | null; limit: number },
): Promise<Project[]> {
  const rows = await db
    .select(projectColumns)
    .from(projectMembers)
    .innerJoin(projects, eq(projects.id, projectMembers.projectId))
    .where(
      and(eq(projectMembers.userId, userId), page.after === null ? undefined : gt(projects.id, page.after)),
    )
    .orderBy(asc(projects.id))
    .limit(page.limit)
  return rows.map(toProject)
}

export async function findProjectOf(db: Connection, userId: string, id: ProjectId): Promise<Project | null> {
  const [row] = await db
    .select(projectColumns)
    .from(projectMembers)
    .innerJoin(projects, eq(projects.id, projectMembers.projectId))
    .where(and(eq(projectMembers.userId, userId), eq(projects.id, id)))
  return row === undefined ? null : toProject(row)
}

/** The earliest of a person's projects with this name. */
export async function findProjectByName(
  db: Connection,
  userId: string,
  name: string,
): Promise<{ id: ProjectId; name: string } | null> {
  const [row] = await db
    .select({ id: projects.id, name: projects.name })
    .from(projectMembers)
    .innerJoin(projects, eq(projects.id, projectMembers.projectId))
    .where(and(eq(projectMembers.userId, userId), eq(projects.name, name)))
    .orderBy(asc(projects.createdAt), asc(projects.id))
    .limit(1)
  return row ?? null
}

export async function findFirstProject(
  db: Connection,
  userId: string,
): Promise<{ id: ProjectId; name: string } | null> {
  const [row] = await db
    .select({ id: projects.id, name: projects.name })
    .from(projectMembers)
    .innerJoin(projects, eq(projects.id, projectMembers.projectId))
    .where(eq(projectMembers.userId, userId))
    .orderBy(asc(projects.createdAt), asc(projects.id))
    .limit(1)
  return row ?? null
}

export async function insertProject(
  db: Connection,
  project: { id: ProjectId; name: string; ownerId: string; createdAt: Date },
): Promise<void> {
  await db.insert(projects).values({ id: project.id, name: project.name, createdAt: project.createdAt })
  await db
    .insert(projectMembers)
    .values({ projectId: project.id, userId: project.ownerId, role: 'admin', createdAt: project.createdAt })
}

export async function listWorkspacesOf(
  db: Connection,
  project: ProjectId,
  page: { after: WorkspaceId | null; limit: number },
): Promise<WorkspaceSummary[]> {
  const rows = await db
    .select({
      id: workspaces.id,
      machine: workspaces.machineId,
      machineName: machines.name,
      root: workspaces.root,
      name: workspaces.name,
      turnCount: workspaces.turnCount,
      lastTurnAt: workspaces.lastTurnAt,
    })
    .from(workspaces)
    .innerJoin(machines, eq(machines.id, workspaces.machineId))
    .where(
      and(eq(workspaces.projectId, project), page.after === null ? undefined : gt(workspaces.id, page.after)),
    )
    .orderBy(asc(workspaces.id))
    .limit(page.limit)
  return rows.map((row) => ({ ...row, lastTurnAt: row.lastTurnAt?.toISOString() ?? null }))
}

function toProject(row: {
  id: ProjectId
  name: string
  role: Project['role']
  createdAt: Date
  turnCount: number
  lastTurnAt: Date | null
}): Project {
  return { ...row, createdAt: row.createdAt.toISOString(), lastTurnAt: row.lastTurnAt?.toISOString() ?? null }
}
