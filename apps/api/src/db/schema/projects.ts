import type { ProjectId } from '@turnback/core'
import { bigint, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'
import { users } from './accounts.ts'

export const projects = pgTable('projects', {
  id: text().$type<ProjectId>().primaryKey(),
  name: text().notNull(),
  createdAt: timestamp({ withTimezone: true }).notNull(),
  turnCount: bigint({ mode: 'number' }).notNull().default(0),
  lastTurnAt: timestamp({ withTimezone: true }),
})

export const projectMembers = pgTable(
  'project_members',
  {
    projectId: text()
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id, { onDelete: 'cascade' }),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text({ enum: ['viewer', 'member', 'lead', 'admin'] }).notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.projectId, t.userId] }), index('project_members_user').on(t.userId)],
)
