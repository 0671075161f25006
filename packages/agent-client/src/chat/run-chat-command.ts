import { type StdioOptions, spawn } from 'node:child_process'
import type { Environment } from '#config.ts'
import { openUnnamedFile } from '#store/unnamed-file.ts'
import type { ChatCommand } from './chat-command.ts'

export const CHAT_USAGE = `Not understood, and nothing was done. What Turnback takes here:
  /turnback                          takes back this chat’s last turn that is not taken back yet
  /turnback 12 [--only] [--path F]   goes back to before turn 12; --only: that turn alone
  /turnback redo                     takes the last rewind back
  /turnback preview 12, /turnback log
With --dry-run it only tells what would be done.`

const BYTES = 8000

export interface ChatPlace {
  /** Absolute path of `bin/turnback`. */
  readonly program: string
  readonly folder: string
  readonly session: string
  /** The process that asks: the agent, or what it started. */
  readonly callerPid: number
  readonly env: Environment
  /** How long the agent is kept waiting. */
  readonly waitMs: number
}

/**
 * Runs the command in a process of its own, which goes on when the agent waits no longer.
 * @returns what it says to the person
 */
export async function runChatCommand(command: ChatCommand, place: ChatPlace): Promise<string> {
  // No pipe: who writes into one that nobody reads any more dies of it, and a restore is to be brought to its end.
  const output = openUnnamedFile()
  try {
    const outcome = await start(wordsOf(command, place), place, output.fd)
    const said = output.read(BYTES).toString('utf8')
    switch (outcome) {
      case 'ended':
        return said.trimEnd()
      case 'late':
        return `${said}Turnback is still at it. \`turnback log\` shows when it is done, \`turnback status\` if not.`
      default:
        return `Turnback could not be started: ${outcome.message}`
    }
  } finally {
    output.close()
  }
}

function wordsOf({ words, isOfSession }: ChatCommand, { session, callerPid }: ChatPlace): string[] {
  const [name = '', ...rest] = words
  return [
    name,
    ...(isOfSession ? [`--session=${session}`] : []),
    ...(ACTS.has(name) ? [`--asked-by=${callerPid}`] : []),
    ...rest,
  ]
}

function start(
  words: readonly string[],
  { program, folder, env, waitMs }: ChatPlace,
  output: number,
): Promise<'ended' | 'late' | Error> {
  const { promise, resolve } = Promise.withResolvers<'ended' | 'late' | Error>()
  const stdio: StdioOptions = ['ignore', output, output]
  const child = spawn(program, ['-C', folder, ...words], { env, stdio, detached: true })
  const timer = setTimeout(() => {
    child.unref()
    resolve('late')
  }, waitMs)
  child.on('error', resolve)
  child.on('close', () => resolve('ended'))
  return promise.finally(() => clearTimeout(timer))
}

const ACTS: ReadonlySet<string> = new Set(['undo', 'restore', 'redo'])
