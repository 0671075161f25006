import { randomBytes } from 'node:crypto'
import { DomainError, makeId, type ProjectId, type WorkspaceId } from '@turnback/core'
import type { Project, WorkspaceSummary } from '@turnback/core/api'
import type { Connection } from '#db/client.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import { recordEvent } from '#modules/audit/index.ts'
import {
  findFirstProject,
  findProjectByName,
  findProjectOf,
  insertProject,
  listProjectsOf,
  listWorkspacesOf,
} from './queries.ts'

/** Where turns go whose folder names no project. */
const DEFAULT_NAME = 'Default'

interface PageOf<Id> {
  readonly after: Id | null
  readonly limit: number
}

export function listPersonsProjectPage(
  deps: Deps,
  personId: string,
  page: PageOf<ProjectId>,
): Promise<Project[]> {
  return listProjectsOf(deps.db, personId, page)
}

export function listProjectsWorkspaces(
  deps: Deps,
  project: ProjectId,
  page: PageOf<WorkspaceId>,
): Promise<WorkspaceSummary[]> {
  return listWorkspacesOf(deps.db, project, page)
}

export async function getPersonsProject(deps: Deps, personId: string, id: ProjectId): Promise<Project> {
  const project = await findProjectOf(deps.db, personId, id)
  if (project === null) throw new DomainError('PROJECT_NOT_FOUND')
  return project
}

export async function makeProject(
  deps: Deps,
  personId: string,
  name: string,
  requestId: string,
): Promise<Project> {
  return await inTx(deps.db, async (tx) => {
    const { id } = await addProject(tx, deps.clock.nowMs(), personId, name, requestId)
    const project = await findProjectOf(tx, personId, id)
    if (project === null) throw new Error('the project that was just made is not there')
    return project
  })
}

/** The person's project of this name (null: their first one), made when there is none. In the caller's transaction. */
export async function findOrMakeProject(
  tx: Connection,
  nowMs: number,
  personId: string,
  name: string | null,
  requestId: string,
): Promise<{ id: ProjectId; name: string }> {
  const existing =
    name === null ? await findFirstProject(tx, personId) : await findProjectByName(tx, personId, name)
  return existing ?? (await addProject(tx, nowMs, personId, name ?? DEFAULT_NAME, requestId))
}

async function addProject(tx: Connection, nowMs: number, personId: string, name: string, requestId: string) {
  const id = makeId('p', nowMs, randomBytes(10))
  await insertProject(tx, { id, name, ownerId: personId, createdAt: new Date(nowMs) })
  await recordEvent(tx, {
    actor: { kind: 'person', id: personId },
    action: 'project.made',
    project: id,
    requestId,
  })
  return { id, name }
}
