import type { ProjectId } from '@turnback/core'
import type { Role } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import { findRole, listMemberships } from './queries.ts'

export function listPersonsProjects(deps: Deps, personId: string) {
  return listMemberships(deps.db, personId)
}

export function findPersonsRole(deps: Deps, personId: string, project: ProjectId): Promise<Role | null> {
  return findRole(deps.db, personId, project)
}
