import type {
  EndReason,
  MachineId,
  ProjectId,
  RelPath,
  RestoreId,
  RestoreStatus,
  SkippedPath,
  Source,
  State,
  TurnId,
  TurnKind,
  TurnManifest,
  UndoneMark,
  WorkspaceId,
} from '@turnback/core'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { byteText } from '#db/columns.ts'

const at = () => timestamp({ withTimezone: true })

/** What the marks of other turns hang on, of a turn of kind `restore`. */
export interface StoredRestoreFacts {
  readonly target: TurnId
  readonly takenBack: TurnId | null
  readonly of: readonly TurnId[]
  readonly isWhole: boolean
  readonly status: RestoreStatus
}

/** A projection of the envelopes: lists, filters and counters. It can be made again from them. */
export const turns = pgTable(
  'turns',
  {
    id: text().$type<TurnId>().primaryKey(),
    /** In the order the server was told; lists go by it. */
    place: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    projectId: text().$type<ProjectId>().notNull(),
    workspaceId: text().$type<WorkspaceId>().notNull(),
    machineId: text().$type<MachineId>().notNull(),
    seq: integer().notNull(),
    number: integer().notNull(),
    kind: text().$type<TurnKind>().notNull(),
    session: text(),
    agent: text(),
    prompt: text(),
    label: text(),
    startedAt: at().notNull(),
    endedAt: at().notNull(),
    endReason: text().$type<EndReason>(),
    created: integer().notNull(),
    changed: integer().notNull(),
    deleted: integer().notNull(),
    skipped: integer().notNull(),
    sealed: integer().notNull(),
    undone: text().$type<UndoneMark>().notNull().default('no'),
    restoreId: text().$type<RestoreId>(),
    restoreFacts: jsonb().$type<StoredRestoreFacts>(),
    /** The manifest without entries and skipped paths. */
    head: jsonb().$type<Omit<TurnManifest, 'entries' | 'skipped'>>().notNull(),
    /** The first skipped paths only; `skipped` counts all. */
    skippedPaths: jsonb().$type<readonly SkippedPath[]>().notNull(),
    receivedAt: at().notNull(),
  },
  (t) => [
    index('turns_project_place').on(t.projectId, t.place.desc()),
    uniqueIndex('turns_workspace_seq').on(t.workspaceId, t.seq),
    index('turns_project_session').on(t.projectId, t.session),
    index('turns_machine').on(t.machineId),
  ],
)

export const turnEntries = pgTable(
  'turn_entries',
  {
    turnId: text().$type<TurnId>().notNull(),
    path: byteText().$type<RelPath>().notNull(),
    projectId: text().$type<ProjectId>().notNull(),
    before: jsonb().$type<State>().notNull(),
    after: jsonb().$type<State>().notNull(),
    source: text().$type<Source>().notNull(),
    scan: integer().notNull(),
    isSealed: boolean().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.turnId, t.path] }),
    index('turn_entries_project_path').on(t.projectId, t.path),
  ],
)
