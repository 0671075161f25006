import { DomainError } from '@turnback/core'
import type { Context } from './context.ts'
import type { PlainBuilder } from './plain.ts'

/** Programs that only start others: never the agent itself. */
const STARTERS: ReadonlySet<string> = new Set([
  ...['sh', 'dash', 'bash', 'zsh', 'ksh', 'mksh', 'ash', 'busybox', 'fish', 'csh', 'tcsh'],
  ...['env', 'timeout', 'nohup', 'nice', 'setsid', 'stdbuf', 'xargs', 'sudo'],
])

export function addAgentOption(command: PlainBuilder): PlainBuilder {
  return command.option(
    '--agent-pid <pid>',
    'the agent’s process, or `above` for the nearest one above that is no shell: when it ends, so does the turn',
  )
}

/**
 * The agent's process: as it was told, or as Claude Code tells its hooks. Who starts a plain `begin` is no agent, so it
 * is not guessed. @throws USAGE
 */
export function findAgentPid(context: Context, given: string | undefined): number | null {
  const { processes } = context.deps
  if (given !== undefined && given !== 'above') {
    const pid = Number(given)
    if (!Number.isInteger(pid) || pid < 1) throw new DomainError('USAGE', { agentPid: given })
    return pid
  }
  const told = context.env.CLAUDE_PID
  if (given === undefined && told === undefined) return null
  const chain = processes.listChain(context.callerPid).filter(({ pid }) => pid > 1)
  // A variable may have come down from an agent of long ago: it counts only from one that stands above.
  const found = chain.find(({ pid, command }) =>
    given === 'above' ? !STARTERS.has(command) : pid === Number(told),
  )
  return found?.pid ?? null
}
