import { limits } from '@turnback/core'
import { RECORDED } from '#acp/recorded.ts'
import { type Adapter, isAgentName } from '#adapters/adapter.ts'
import { loadAdapter } from '#adapters/adapters.ts'
import { asFields, textIn } from '#adapters/fields.ts'
import type { Context } from './context.ts'
import { answerChatCommand } from './hook-chat.ts'
import { takeNews } from './hook-news.ts'
import { noteHookTrouble, noteOnce } from './hook-trouble.ts'
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
        noteOnce(context, agent.slice(0, 50), 'agent')
        return
      }
      const answer = await answerOf(context, adapter, event ?? null)
      if (answer !== '') context.printBytes(Buffer.from(answer))
    })
}

/** Does what the news asks for. @returns what is printed */
async function answerOf(context: Context, adapter: Adapter, event: string | null): Promise<string> {
  let told: string | null = null
  try {
    // Codex's `notify` gives it as the last word.
    const isGiven = event?.startsWith('{') === true
    const payload = parsePayload(isGiven ? event : await context.readStdin(PAYLOAD_MS))
    const nonce = textIn(asFields(payload), 'turnbackSelfTest')
    if (nonce !== null) context.deps.log.putFact(`selfTest:${adapter.name}:${event ?? ''}`, nonce)
    else if (context.env[RECORDED] === undefined) {
      const { news, unknown } = adapter.read(payload, event, context.env)
      if (unknown !== null) noteOnce(context, adapter.name, unknown)
      const report = await answerChatCommand(context, adapter, news, payload)
      if (report !== null) return report
      for (const each of news) told = (await takeNews(context, adapter, each)) ?? told
    }
  } catch (error) {
    noteHookTrouble(context, error)
  }
  return adapter.answer(told)
}

/** @throws Error without a word of the text: what the parser says holds a piece of it, which may be of a prompt */
function parsePayload(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`the agent’s news is no JSON: ${text.length} characters`)
  }
}
