import type { CommandId, MachineId, RestoreId } from '@turnback/core'
import type { Connection } from '#db/client.ts'
import type { Deps } from '#deps.ts'
import { type Command, insertCommand, listOpenCommands, settleAll, settleCommands } from './queries.ts'

/** Writes down what a machine is to be asked. Whoever calls publishes `command` after the commit. */
export function queueCommand(tx: Connection, command: Command): Promise<void> {
  return insertCommand(tx, command)
}

/** What was not taken up yet is no longer asked. In the caller's transaction. */
export function dropCommands(
  tx: Connection,
  of: { readonly machine: MachineId } | { readonly restore: RestoreId },
  now: Date,
): Promise<void> {
  return settleAll(tx, of, now)
}

export function listCommandsFor(deps: Deps, machine: MachineId): Promise<Command[]> {
  return listOpenCommands(deps.db, machine, new Date(deps.clock.nowMs()))
}

/** The machine took these up. Gives those that nobody knew of before. */
export function settle(tx: Connection, machine: MachineId, ids: readonly CommandId[], now: Date) {
  return settleCommands(tx, machine, ids, now)
}
