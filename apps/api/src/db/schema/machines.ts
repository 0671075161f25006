import type { MachineId, ProjectId, RemotePolicy, WorkspaceId } from '@turnback/core'
import { bigint, index, integer, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'
import { bytea } from '#db/columns.ts'
import { users } from './accounts.ts'
import { projects } from './projects.ts'

const at = () => timestamp({ withTimezone: true })

export const machines = pgTable(
  'machines',
  {
    id: text().$type<MachineId>().primaryKey(),
    ownerId: text()
      .notNull()
      .references(() => users.id),
    defaultProjectId: text()
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id),
    name: text().notNull(),
    /** Ed25519, raw. */
    publicKey: bytea().notNull(),
    recipient: text().notNull(),
    version: text(),
    remotePolicy: text().$type<RemotePolicy>(),
    enrolledAt: at().notNull(),
    lastSeenAt: at(),
    /** Which link holds the machine, and until when it counts as online without another sign of life. */
    linkId: text(),
    onlineUntil: at(),
    revokedAt: at(),
  },
  (t) => [index('machines_owner').on(t.ownerId), index('machines_default_project').on(t.defaultProjectId)],
)

export const workspaces = pgTable(
  'workspaces',
  {
    id: text().$type<WorkspaceId>().primaryKey(),
    machineId: text()
      .$type<MachineId>()
      .notNull()
      .references(() => machines.id),
    projectId: text()
      .$type<ProjectId>()
      .notNull()
      .references(() => projects.id),
    root: text().notNull(),
    name: text().notNull(),
    createdAt: at().notNull(),
    /** The end of the chain of envelopes: what the next one must say in `seq` and `prev`. */
    headSeq: integer().notNull().default(0),
    headSha256: text(),
    turnCount: bigint({ mode: 'number' }).notNull().default(0),
    lastTurnAt: at(),
  },
  (t) => [index('workspaces_machine').on(t.machineId), index('workspaces_project').on(t.projectId, t.id)],
)

/** What enrolls one machine: only the hash of the secret half of the code is kept. */
export const enrollments = pgTable('enrollments', {
  /** The first half of the code, which names it. */
  id: text().primaryKey(),
  hash: bytea().notNull(),
  ownerId: text()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
  projectId: text()
    .$type<ProjectId>()
    .references(() => projects.id, { onDelete: 'cascade' }),
  triesLeft: integer().notNull(),
  expiresAt: at().notNull(),
  usedAt: at(),
})

/** Nonces of signed requests, kept as long as their time stamp would still be taken. */
export const requestNonces = pgTable(
  'request_nonces',
  {
    machineId: text().$type<MachineId>().notNull(),
    nonce: text().notNull(),
    seenAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.machineId, t.nonce] }), index('request_nonces_seen').on(t.seenAt)],
)
