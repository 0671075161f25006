import type { CommandId, MachineId, RestoreId, ServerMessage } from '@turnback/core'
import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { commands } from '#db/schema/restores.ts'

export interface Command {
  readonly id: CommandId
  readonly machineId: MachineId
  readonly restoreId: RestoreId | null
  readonly message: ServerMessage
  readonly createdAt: Date
  readonly expiresAt: Date
}

export async function insertCommand(db: Connection, command: Command): Promise<void> {
  await db.insert(commands).values(command)
}

/** What a machine still has to take up, oldest first. */
export async function listOpenCommands(db: Connection, machine: MachineId, now: Date): Promise<Command[]> {
  return await db
    .select()
    .from(commands)
    .where(and(eq(commands.machineId, machine), isNull(commands.settledAt), gt(commands.expiresAt, now)))
    .orderBy(asc(commands.createdAt), asc(commands.id))
    .limit(100)
}

/** Gives those that were still open. */
export async function settleCommands(
  db: Connection,
  machine: MachineId,
  ids: readonly CommandId[],
  now: Date,
): Promise<Pick<Command, 'id' | 'restoreId' | 'message'>[]> {
  if (ids.length === 0) return []
  return await db
    .update(commands)
    .set({ settledAt: now })
    .where(and(eq(commands.machineId, machine), inArray(commands.id, [...ids]), isNull(commands.settledAt)))
    .returning({ id: commands.id, restoreId: commands.restoreId, message: commands.message })
}

export async function settleAll(
  db: Connection,
  of: { readonly machine: MachineId } | { readonly restore: RestoreId },
  now: Date,
): Promise<void> {
  const whose = 'machine' in of ? eq(commands.machineId, of.machine) : eq(commands.restoreId, of.restore)
  await db
    .update(commands)
    .set({ settledAt: now })
    .where(and(whose, isNull(commands.settledAt)))
}
