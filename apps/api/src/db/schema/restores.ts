import type {
  Authoriser,
  CommandId,
  MachineId,
  Preview,
  ProjectId,
  RestoreId,
  RestoreReport,
  RestoreRequest,
  RestoreState,
  ServerMessage,
  TurnId,
  WorkspaceId,
} from '@turnback/core'
import { index, jsonb, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { bytea } from '#db/columns.ts'

const at = () => timestamp({ withTimezone: true })

export const restores = pgTable(
  'restores',
  {
    id: text().$type<RestoreId>().primaryKey(),
    projectId: text().$type<ProjectId>().notNull(),
    workspaceId: text().$type<WorkspaceId>().notNull(),
    machineId: text().$type<MachineId>().notNull(),
    turnId: text().$type<TurnId>().notNull(),
    status: text().$type<RestoreState>().notNull(),
    request: jsonb().$type<RestoreRequest>(),
    /** By whose word, as the machine is told; null for a restore that was asked for at the machine itself. */
    authoriser: jsonb().$type<Authoriser>(),
    requestedById: text(),
    requestedBy: jsonb().$type<RestoreReport['requestedBy']>().notNull(),
    createdAt: at().notNull(),
    updatedAt: at().notNull(),
    /** When the present state ends by itself, if nothing comes. */
    expiresAt: at(),
    plan: jsonb().$type<Preview>(),
    planEnvelope: bytea(),
    report: jsonb().$type<RestoreReport>(),
    reportEnvelope: bytea(),
    error: jsonb().$type<{ code: string; message: string }>(),
  },
  (t) => [
    index('restores_project').on(t.projectId, t.createdAt.desc(), t.id.desc()),
    index('restores_machine').on(t.machineId, t.createdAt),
    index('restores_expiry').on(t.expiresAt),
  ],
)

/** What a machine was asked, until it says that it took it up. */
export const commands = pgTable(
  'commands',
  {
    id: text().$type<CommandId>().primaryKey(),
    machineId: text().$type<MachineId>().notNull(),
    restoreId: text().$type<RestoreId>(),
    message: jsonb().$type<ServerMessage>().notNull(),
    createdAt: at().notNull(),
    expiresAt: at().notNull(),
    /** Taken up by the machine, or called off before it was. */
    settledAt: at(),
  },
  (t) => [index('commands_machine').on(t.machineId, t.settledAt), index('commands_restore').on(t.restoreId)],
)
