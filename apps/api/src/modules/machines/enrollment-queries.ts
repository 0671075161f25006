import type { ProjectId } from '@turnback/core'
import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { users } from '#db/schema/accounts.ts'
import { enrollments } from '#db/schema/machines.ts'
import { projects } from '#db/schema/projects.ts'

export type EnrollmentRow = typeof enrollments.$inferSelect

export async function insertEnrollment(db: Connection, row: Omit<EnrollmentRow, 'usedAt'>): Promise<void> {
  await db.insert(enrollments).values(row)
}

/** Takes one of the tries off; null when there is no such code, or none is left, or it is too old, or used. */
export async function takeTry(db: Connection, id: string, now: Date): Promise<EnrollmentRow | null> {
  const [row] = await db
    .update(enrollments)
    .set({ triesLeft: sql`${enrollments.triesLeft} - 1` })
    .where(
      and(
        eq(enrollments.id, id),
        isNull(enrollments.usedAt),
        gt(enrollments.triesLeft, 0),
        gt(enrollments.expiresAt, now),
      ),
    )
    .returning()
  return row ?? null
}

/** False when somebody else used it up in the meantime. */
export async function useEnrollment(db: Connection, id: string, now: Date): Promise<boolean> {
  const used = await db
    .update(enrollments)
    .set({ usedAt: now })
    .where(and(eq(enrollments.id, id), isNull(enrollments.usedAt)))
    .returning({ id: enrollments.id })
  return used.length > 0
}

export async function getOwner(
  db: Connection,
  id: string,
): Promise<{ id: string; name: string; email: string }> {
  const [row] = await db
    .select({ id: users.id, name: users.name, email: users.email })
    .from(users)
    .where(eq(users.id, id))
  if (row === undefined) throw new Error('an enrolment of nobody')
  return row
}

export async function getProjectName(
  db: Connection,
  id: ProjectId,
): Promise<{ id: ProjectId; name: string }> {
  const [row] = await db
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .where(eq(projects.id, id))
  if (row === undefined) throw new Error('an enrolment into no project')
  return row
}
