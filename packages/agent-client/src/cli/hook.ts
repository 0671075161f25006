import { limits } from '@turnback/core'
import { noteOfHook } from './hook-trouble.ts'
import type { PlainRegister } from './plain.ts'

/** How long an agent that does not close its end is listened to. */
const PAYLOAD_MS = (limits.hookWaitSeconds * 1000) / 2

export const register: PlainRegister = (program, context) => {
  program
    .command('hook')
    .argument('<agent>', 'whose hook this is')
    .description('what agents call: takes their news from standard input, prints nothing, always ends well')
    .action(async (agent: string) => {
      const payload = await context.readStdin(PAYLOAD_MS)
      // No agent's words are understood yet; that this one spoke is all there is to keep.
      noteOfHook(context, 'not-understood', { agent, characters: payload.length })
    })
}
