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
  if (given !== undefined && given !== 'above') return parsePid('agentPid', given)
  if (given === undefined) return findPidInVariable(context, 'CLAUDE_PID')
  return listAbove(context).find(({ command }) => !STARTERS.has(command))?.pid ?? null
}

/** @throws USAGE */
export function parsePid(option: string, given: string): number {
  const pid = Number(given)
  if (!Number.isInteger(pid) || pid < 1) throw new DomainError('USAGE', { [option]: given })
  return pid
}

/** A variable may have come down from an agent of long ago: it counts only from one that stands above. */
export function findPidInVariable(context: Context, name: string): number | null {
  const told = context.env[name]
  if (told === undefined) return null
  return listAbove(context).find(({ pid }) => pid === Number(told))?.pid ?? null
}

function listAbove({ deps, callerPid }: Context): { pid: number; command: string }[] {
  return deps.processes.listChain(callerPid).filter(({ pid }) => pid > 1)
}
