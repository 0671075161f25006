import type { BlobId, Codec, MachineId, ProjectId, TurnId, WorkspaceId } from '@turnback/core'
import {
  bigint,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { bytea } from '#db/columns.ts'

const at = () => timestamp({ withTimezone: true })

export const packs = pgTable(
  'packs',
  {
    projectId: text().$type<ProjectId>().notNull(),
    packId: text().notNull(),
    machineId: text().$type<MachineId>().notNull(),
    sizeBytes: bigint({ mode: 'number' }).notNull(),
    receivedAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.projectId, t.packId] })],
)

/**
 * Where a blob's bytes lie. `scope` is the project for plain ids, which the server checks, and the workspace for
 * sealed ones, which only the machine that named them can check: nobody can take another's name first.
 */
export const blobs = pgTable(
  'blobs',
  {
    scope: text().$type<ProjectId | WorkspaceId>().notNull(),
    id: text().$type<BlobId>().notNull(),
    projectId: text().$type<ProjectId>().notNull(),
    packId: text().notNull(),
    offsetBytes: bigint({ mode: 'number' }).notNull(),
    storedBytes: bigint({ mode: 'number' }).notNull(),
    sizeBytes: bigint({ mode: 'number' }).notNull(),
    codec: text().$type<Codec>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.id] })],
)

/** The signed bytes as they came, compressed, and their place in the workspace's chain. */
export const envelopes = pgTable(
  'envelopes',
  {
    turn: text().$type<TurnId>().primaryKey(),
    workspaceId: text().$type<WorkspaceId>().notNull(),
    machineId: text().$type<MachineId>().notNull(),
    seq: integer().notNull(),
    type: text({ enum: ['turn', 'stub'] }).notNull(),
    /** Of the unpacked envelope; for a stub, of the one that it stands for: the next one's `prev`. */
    sha256: text().notNull(),
    /** Of these very bytes, unpacked. Differs from `sha256` for a stub. */
    ownSha256: text().notNull(),
    bytes: bytea().notNull(),
    receivedAt: at().notNull(),
  },
  (t) => [
    uniqueIndex('envelopes_chain').on(t.workspaceId, t.seq),
    index('envelopes_machine').on(t.machineId),
  ],
)

/**
 * Where a machine said that its chain ends, as a turn began: told before the turns themselves may have come, so what
 * comes later is held against it. The signed bytes are kept as the proof.
 */
export const chainHeads = pgTable(
  'chain_heads',
  {
    workspaceId: text().$type<WorkspaceId>().notNull(),
    /** Of the last envelope; 0 with no hash for a chain that is still empty. */
    seq: integer().notNull(),
    sha256: text(),
    /** Number of the turn that began, and when, by the machine's clock. */
    number: integer().notNull(),
    announcedAt: at().notNull(),
    bytes: bytea().notNull(),
    receivedAt: at().notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspaceId, t.seq] })],
)
