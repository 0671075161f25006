import { createInterface } from 'node:readline'
import { failureSchema, type Order, orderSchema } from '#acp/scribe.ts'
import type { Caller, Register, RunLine } from './context.ts'

export const register: Register = (program, context, runLine) => {
  program
    .command('acp-scribe', { hidden: true })
    .description('run commands for `acp`, one a line')
    .action(async () => {
      for await (const line of createInterface(process.stdin)) {
        const error = await carryOut(runLine, context.caller, orderSchema.parse(JSON.parse(line)))
        context.printBytes(Buffer.from(`${JSON.stringify({ error })}\n`))
      }
    })
}

async function carryOut(runLine: RunLine, caller: Caller, { folder, words, input }: Order) {
  let out = ''
  const streams = {
    out(text: string | Uint8Array) {
      out += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
    },
    talk: () => undefined,
    readStdin: async () => input ?? '',
  }
  const code = await runLine(['-C', folder, '--json', ...words], caller, streams, null)
  if (code === 0) return null
  const failed = failureSchema.safeParse(JSON.parse(out))
  return failed.success ? failed.data.error : { code: 'INTERNAL', message: `it ended with ${code}` }
}
