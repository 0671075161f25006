import { limits } from '@turnback/core'
import { isAgentName } from '#adapters/adapter.ts'
import { loadAdapter } from '#adapters/adapters.ts'
import { asFields, textIn } from '#adapters/fields.ts'
import { takeNews } from './hook-news.ts'
import { noteHookTrouble, noteOfHook, noteOnce } from './hook-trouble.ts'
import type { PlainRegister } from './plain.ts'

/** How long an agent that does not close its end is listened to. */
const PAYLOAD_MS = (limits.hookWaitSeconds * 1000) / 2

export const register: PlainRegister = (program, context) => {
  program
    .command('hook')
    .argument('<agent>', 'whose hook this is')
    .argument('[event]', 'what happened, for agents whose news does not name it')
    .description('what agents call: takes their news from standard input, always ends well')
    .action(async (agent: string, event: string | undefined) => {
      const adapter = isAgentName(agent) ? await loadAdapter(agent) : null
      if (adapter === null) {
        noteOfHook(context, 'not-understood', { agent })
        return
      }
      let told: string | null = null
      try {
        // Codex's `notify` gives it as the last word.
        const isGiven = event?.startsWith('{') === true
        const payload: unknown = JSON.parse(isGiven ? event : await context.readStdin(PAYLOAD_MS))
        const nonce = textIn(asFields(payload), 'turnbackSelfTest')
        if (nonce !== null) context.deps.log.putFact(`selfTest:${agent}:${event ?? ''}`, nonce)
        else {
          const { news, unknown } = adapter.read(payload, event ?? null, context.env)
          if (unknown !== null) noteOnce(context, agent, unknown)
          for (const each of news) told = (await takeNews(context, adapter, each)) ?? told
        }
      } catch (error) {
        noteHookTrouble(context, error)
      }
      const answer = adapter.answer(told)
      if (answer !== '') context.printBytes(Buffer.from(answer))
    })
}
