import type postgres from 'postgres'
import { type Bus, type BusListener, type BusMessage, busMessageSchema } from './bus.ts'

const CHANNEL = 'turnback'

/** Fan-out by LISTEN and NOTIFY. Needs a direct connection: poolers in transaction mode drop LISTEN. */
export async function openPostgresBus(sql: postgres.Sql): Promise<Bus> {
  const listeners = new Set<BusListener>()
  let isConnectedBefore = false
  const tell = (message: Parameters<BusListener>[0]) => {
    for (const listener of listeners) listener(message)
  }
  const listening = await sql.listen(
    CHANNEL,
    (payload) => {
      const message = busMessageSchema.safeParse(JSON.parse(payload))
      // Another version's message is news that this one does not know.
      if (message.success) tell(message.data)
    },
    () => {
      // Called for each new connection: after the first, something may have been said meanwhile.
      if (isConnectedBefore) tell({ type: 'gap' })
      isConnectedBefore = true
    },
  )
  return {
    async publish(message: BusMessage) {
      await sql.notify(CHANNEL, JSON.stringify(message))
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      await listening.unlisten()
    },
  }
}
