import type { MachineId, ProjectId, RestoreId, TurnId } from '@turnback/core'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema } from '@turnback/core'
import { z } from 'zod'

/** What instances tell each other: ids only, never data. A lost message costs time, nothing else. */
export const busMessageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn'), project: projectIdSchema, turn: turnIdSchema }),
  z.object({ type: z.literal('restore'), project: projectIdSchema, restore: restoreIdSchema }),
  z.object({ type: z.literal('machine'), machine: machineIdSchema }),
  z.object({ type: z.literal('command'), machine: machineIdSchema }),
  z.object({ type: z.literal('revoked'), machine: machineIdSchema }),
])
export type BusMessage =
  | { readonly type: 'turn'; readonly project: ProjectId; readonly turn: TurnId }
  | { readonly type: 'restore'; readonly project: ProjectId; readonly restore: RestoreId }
  | { readonly type: 'machine'; readonly machine: MachineId }
  | { readonly type: 'command'; readonly machine: MachineId }
  | { readonly type: 'revoked'; readonly machine: MachineId }

/** `gap`: messages may have been lost; whoever waits reads again. */
export type BusListener = (message: BusMessage | { readonly type: 'gap' }) => void

export interface Bus {
  /** Tells all instances, this one too. Called after the transaction that made it true. */
  publish(message: BusMessage): Promise<void>
  /** Gives the function that ends the subscription. */
  subscribe(listener: BusListener): () => void
  close(): Promise<void>
}
