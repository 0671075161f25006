import { spawn } from 'node:child_process'
import { limits } from '@turnback/core'
import type { Environment } from '#config.ts'
import type { ChatCommand } from './chat-command.ts'

export const CHAT_USAGE = `Not understood, and nothing was done. What Turnback takes here:
  /turnback                          takes back this chat’s last turn that is not taken back yet
  /turnback 12 [--only] [--path F]   goes back to before turn 12; --only: that turn alone
  /turnback redo                     takes the last rewind back
  /turnback preview 12, /turnback log
With --dry-run it only tells what would be done.`

/** An agent gives up on its hook a little later. */
const WAIT_MS = (limits.hookWaitSeconds - 2) * 1000
const CHARACTERS = 8000

export interface ChatPlace {
  /** Absolute path of `bin/turnback`. */
  readonly program: string
  readonly folder: string
  readonly session: string
  /** The process that asks: the agent, or what it started. */
  readonly callerPid: number
  readonly env: Environment
}

/**
 * Runs the command in a process of its own, which goes on when the agent waits no longer.
 * @returns what it says to the person
 */
export function runChatCommand(
  { words, isOfSession }: ChatCommand,
  { program, folder, session, callerPid, env }: ChatPlace,
): Promise<string> {
  const [name = '', ...rest] = words
  const more = [
    ...(isOfSession ? [`--session=${session}`] : []),
    ...(ACTS.has(name) ? [`--asked-by=${callerPid}`] : []),
  ]
  const { promise, resolve } = Promise.withResolvers<string>()
  const child = spawn(program, ['-C', folder, name, ...more, ...rest], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < CHARACTERS) said += text
    })
  const timer = setTimeout(() => {
    child.unref()
    resolve(
      `${said}Turnback is still at it. \`turnback log\` shows when it is done, \`turnback status\` if not.`,
    )
  }, WAIT_MS)
  child.on('error', ({ message }) => resolve(`Turnback could not be started: ${message}`))
  child.on('close', () => resolve(said.trimEnd()))
  return promise.finally(() => clearTimeout(timer))
}

const ACTS: ReadonlySet<string> = new Set(['undo', 'restore', 'redo'])
