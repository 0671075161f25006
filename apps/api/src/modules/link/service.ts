import type { CommandId, MachineId, ProjectId, RestoreId, ServerMessage } from '@turnback/core'
import { waitFor } from '#bus/wait-for.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { listCommandsFor, settle } from '#modules/commands/index.ts'
import { markTakenUp } from '#modules/restores/index.ts'

/** What a machine is asked and has not taken up yet. */
export async function listMessages(deps: Deps, machine: MachineId): Promise<ServerMessage[]> {
  return (await listCommandsFor(deps, machine)).map((command) => command.message)
}

/** The same for a machine without a link: waits for the first one. */
export function awaitMessages(
  deps: Deps,
  machine: MachineId,
  wait: { seconds: number; signal: AbortSignal },
): Promise<ServerMessage[]> {
  return waitFor(deps.bus, {
    timeoutMs: wait.seconds * 1000,
    signal: wait.signal,
    concerns: (message) => message.type === 'command' && message.machine === machine,
    read: () => listMessages(deps, machine),
    isEnough: (messages) => messages.length > 0 || wait.seconds === 0,
  })
}

/** The machine took these commands up; they are not sent again. Unknown ids, and ids of others, are passed over. */
export async function acknowledge(deps: Deps, machine: MachineId, ids: readonly CommandId[]): Promise<void> {
  const atMs = deps.clock.nowMs()
  const moved = await inTx(deps.db, async (tx) => {
    const told: { project: ProjectId; restore: RestoreId }[] = []
    for (const command of await settle(tx, machine, ids, new Date(atMs))) {
      if (command.message.type !== 'plan.request' || command.restoreId === null) continue
      const project = await markTakenUp(tx, command.restoreId, atMs)
      if (project !== null) told.push({ project, restore: command.restoreId })
    }
    return told
  })
  for (const { project, restore } of moved) await deps.bus.publish({ type: 'restore', project, restore })
}

/** A machine said what no machine says. */
export function recordBrokenRules(deps: Deps, machine: MachineId, why: string): Promise<void> {
  return recordEvent(deps.db, {
    actor: { kind: 'machine', id: machine },
    action: 'link.broken-rules',
    objects: { machine },
    facts: { why },
  })
}
