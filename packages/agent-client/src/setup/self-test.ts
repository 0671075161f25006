import type { AgentName } from '#adapters/adapter.ts'
import type { Environment } from '#config.ts'
import { parseHookLine } from './hook-line.ts'
import { runProgram } from './run-program.ts'
import { TIMEOUT_SECONDS } from './setup.ts'

export interface SelfTest {
  readonly agent: AgentName
  readonly env: Environment
  readonly folder: string
  readonly findFact: (key: string) => string | null
  readonly makeNonce: () => string
}

/** Fires a line as the agent would, with a word that it has to bring to the store. @returns what went wrong, or null */
export async function fireLine(line: string, test: SelfTest): Promise<string | null> {
  const { agent, env, folder, findFact } = test
  const nonce = test.makeNonce()
  const { code, out, errors } = await runProgram({
    ...{ program: '/bin/sh', args: ['-c', line], env, folder, limitMs: TIMEOUT_SECONDS * 1000 },
    input: JSON.stringify({ turnbackSelfTest: nonce }),
  })
  const said = errors.trim() === '' ? '' : `: ${errors.trim().split('\n')[0]}`
  if (code === null) return `did not end within ${TIMEOUT_SECONDS} seconds${said}`
  if (code !== 0) return `ended with ${code}${said}`
  const event = parseHookLine(line, agent)?.event ?? ''
  if (findFact(`selfTest:${agent}:${event}`) !== nonce)
    return `ended well, but nothing came to the store${said}`
  return out.trim() === '' || out.trim() === '{}'
    ? null
    : `printed what the agent may misread: ${out.trim().slice(0, 80)}`
}
