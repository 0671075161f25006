import { bigint, index, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'

/** Who did what, when, to which objects. A trigger refuses to change or remove rows. */
export const auditEvents = pgTable(
  'audit_events',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: timestamp({ withTimezone: true }).notNull().defaultNow(),
    actorKind: text({ enum: ['person', 'machine', 'operator', 'anonymous'] }).notNull(),
    actorId: text(),
    action: text().notNull(),
    projectId: text(),
    objects: jsonb().$type<Readonly<Record<string, string>>>().notNull(),
    /** Codes and counts; never contents, codes of access, or addresses of files. */
    facts: jsonb().$type<Readonly<Record<string, string | number | boolean | null>>>().notNull(),
    requestId: text(),
  },
  (t) => [
    index('audit_events_project').on(t.projectId, t.id),
    index('audit_events_action').on(t.action, t.id),
  ],
)
