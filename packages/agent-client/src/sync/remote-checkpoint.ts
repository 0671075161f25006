import { type CommandId, commandIdSchema, type ServerMessage } from '@turnback/core'
import { z } from 'zod'
import type { Deps } from '#ports.ts'
import type { Acknowledge, CommandContext } from './commands.ts'

type CheckpointMessage = Extract<ServerMessage, { type: 'checkpoint.request' }>

const FACT = 'checkpoints.taken'
/** A command is sent again only as long as its acknowledgement is under way. */
const KEPT = 100

/**
 * Makes the checkpoint that the service asks for: a look at the tree, nothing is written into it. It is acknowledged
 * once it is made, so one that fails, or a machine that stops, is asked again.
 */
export async function takeCheckpoint(
  { deps, note, wakePush }: CommandContext,
  message: CheckpointMessage,
  acknowledge: Acknowledge,
): Promise<void> {
  const taken = readTaken(deps)
  const workspace = deps.log.findWorkspace(message.workspace)
  if (workspace === null) note('checkpoint-refused', { id: message.id, workspace: message.workspace })
  else if (!taken.includes(message.id)) {
    const { label, task } = message
    const { turn } = await deps.leases.run(workspace, 'capture', (lease) =>
      deps.capture.makeCheckpoint(lease, workspace, { label, task, paths: null }),
    )
    deps.log.putFact(FACT, JSON.stringify([...taken, message.id].slice(-KEPT)))
    note('checkpoint-made', { id: message.id, turn })
    wakePush()
  }
  acknowledge()
}

function readTaken(deps: Pick<Deps, 'log'>): CommandId[] {
  const text = deps.log.findFact(FACT)
  return text === null ? [] : z.array(commandIdSchema).parse(JSON.parse(text))
}
