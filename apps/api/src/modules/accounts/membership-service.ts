import { DomainError, type ProjectId } from '@turnback/core'
import type { Role } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import { isAtLeast } from '#http/actor.ts'
import { findRole, listMemberships } from './queries.ts'

export function listPersonsProjects(deps: Deps, personId: string) {
  return listMemberships(deps.db, personId)
}

export function findPersonsRole(deps: Deps, personId: string, project: ProjectId): Promise<Role | null> {
  return findRole(deps.db, personId, project)
}

/** For routes whose project only shows with the object. @throws FORBIDDEN, or `notFound` to who is no member */
export async function requireRole(
  deps: Deps,
  personId: string,
  project: ProjectId,
  wanted: Role,
  notFound: DomainError,
): Promise<Role> {
  const role = await findRole(deps.db, personId, project)
  if (role === null) throw notFound
  if (!isAtLeast(role, wanted)) throw new DomainError('FORBIDDEN')
  return role
}
