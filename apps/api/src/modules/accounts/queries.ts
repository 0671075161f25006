import type { ProjectId } from '@turnback/core'
import type { Person, Role } from '@turnback/core/api'
import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { credentials, oneTimeCodes, users } from '#db/schema/accounts.ts'
import { projectMembers, projects } from '#db/schema/projects.ts'

const personColumns = { id: users.id, name: users.name, email: users.email, isAdmin: users.isAdmin }

export async function hasPeople(db: Connection): Promise<boolean> {
  const [found] = await db.select({ id: users.id }).from(users).limit(1)
  return found !== undefined
}

export async function findPersonByEmail(db: Connection, email: string): Promise<Person | null> {
  const [found] = await db.select(personColumns).from(users).where(eq(users.email, email.toLowerCase()))
  return found ?? null
}

export async function findPerson(db: Connection, id: string): Promise<Person | null> {
  const [found] = await db.select(personColumns).from(users).where(eq(users.id, id))
  return found ?? null
}

export async function insertPerson(
  db: Connection,
  person: Person & { readonly passwordHash: string; readonly credentialId: string },
): Promise<void> {
  const email = person.email.toLowerCase()
  await db
    .insert(users)
    .values({ id: person.id, name: person.name, email, emailVerified: true, isAdmin: person.isAdmin })
  await db.insert(credentials).values({
    id: person.credentialId,
    accountId: person.id,
    providerId: 'credential',
    userId: person.id,
    password: person.passwordHash,
  })
}

/** Keeps others from making a first administrator at the same moment. Until the transaction ends. */
export async function lockPeople(db: Connection): Promise<void> {
  await db.execute(sql`lock table ${users} in share row exclusive mode`)
}

export async function insertCode(
  db: Connection,
  code: { hash: Uint8Array; purpose: 'setup' | 'login'; userId: string | null; expiresAt: Date },
): Promise<void> {
  await db.insert(oneTimeCodes).values(code)
}

export async function deleteCodes(db: Connection, purpose: 'setup'): Promise<void> {
  await db.delete(oneTimeCodes).where(eq(oneTimeCodes.purpose, purpose))
}

/** Uses a code up. Null when it is unknown, used, too old, or for something else: these look the same. */
export async function useCode(
  db: Connection,
  code: { hash: Uint8Array; purpose: 'setup' | 'login'; now: Date },
): Promise<{ userId: string | null } | null> {
  const [used] = await db
    .update(oneTimeCodes)
    .set({ usedAt: code.now })
    .where(
      and(
        eq(oneTimeCodes.hash, code.hash),
        eq(oneTimeCodes.purpose, code.purpose),
        isNull(oneTimeCodes.usedAt),
        gt(oneTimeCodes.expiresAt, code.now),
      ),
    )
    .returning({ userId: oneTimeCodes.userId })
  return used ?? null
}

export async function listMemberships(
  db: Connection,
  userId: string,
): Promise<{ id: ProjectId; name: string; role: Role }[]> {
  return await db
    .select({ id: projects.id, name: projects.name, role: projectMembers.role })
    .from(projectMembers)
    .innerJoin(projects, eq(projects.id, projectMembers.projectId))
    .where(eq(projectMembers.userId, userId))
    .orderBy(asc(projects.name), asc(projects.id))
    .limit(1000)
}

export async function findRole(db: Connection, userId: string, project: ProjectId): Promise<Role | null> {
  const [found] = await db
    .select({ role: projectMembers.role })
    .from(projectMembers)
    .where(and(eq(projectMembers.userId, userId), eq(projectMembers.projectId, project)))
  return found?.role ?? null
}
