import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { agentNameOf } from './agent-name.ts'
import { Conversation } from './conversation.ts'
import { readMessage, TEXT_BYTES, WANTED } from './message.ts'
import { RECORDED } from './recorded.ts'
import { Recorder } from './recorder.ts'
import { relay } from './relay.ts'
import { Scribe } from './scribe.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
/** What a shell says of a command that it can not start. */
const NOT_STARTED = 127
/** What the agent said last is passed on; something that it left running may keep its output open for ever. */
const LAST_WORDS_MS = 2000

export interface ProxyOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The agent's name, or null to take the one that it gives itself. */
  readonly agent: string | null
  readonly program: string
  readonly tell: (text: string) => void
  readonly note: (event: string, facts: Readonly<Record<string, unknown>>) => void
}

/** How the agent ended. */
export type AgentEnd = { readonly code: number } | { readonly signal: NodeJS.Signals }

/**
 * Starts the agent and passes on what it and the editor say to each other, recording a turn for each prompt.
 * @returns when the agent is gone and all is recorded
 */
export async function runProxy(
  options: ProxyOptions,
  editor: { readonly input: Readable; readonly output: Writable },
): Promise<AgentEnd> {
  const child = spawn(options.command, options.args, {
    cwd: options.folder,
    env: { ...options.env, [RECORDED]: 'acp' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = endOf(child, options.tell)
  const { stdin, stdout } = child
  const began = Date.now().toString(36)
  const unique = `${began}-${randomBytes(3).toString('hex')}`
  let turns = 0
  const conversation = new Conversation(options.folder, () => `${unique}-${++turns}`)
  const scribe = new Scribe(options.program, options.env)
  scribe.open()
  const recorder = new Recorder({
    ...options,
    scribe,
    agent: () => options.agent ?? agentNameOf(conversation.agent ?? nameOf(options.command)),
    agentPid: () => child.pid ?? null,
  })
  const signals = passSignalsOn(child)
  let isOver = false
  const broken: Broken = (what) => (error) => {
    if (!isOver) options.note('broken', { what, message: error.message })
  }
  stdin.on('error', broken('agent')) // It closed its end: what it does not read is lost without us too.
  editor.output.on('error', broken('editor'))
  const reading = (tell: 'fromEditor' | 'fromAgent') => ({
    wanted: WANTED,
    stringBytes: TEXT_BYTES,
    onMessage(outline: unknown): Promise<void> | null {
      const message = readMessage(outline)
      return message === null ? null : recorder.take(conversation[tell](message))
    },
  })
  const toAgent = relay(editor.input, stdin, reading('fromEditor')).then(
    () => stdin.end(),
    (error: unknown) => broken('editor')(asError(error)),
  )
  const toEditor = relay(stdout, editor.output, reading('fromAgent')).catch((error: unknown) =>
    broken('agent')(asError(error)),
  )
  const end = await ended
  const late = setTimeout(() => stdout.destroy(), LAST_WORDS_MS)
  await toEditor
  clearTimeout(late)
  // Nobody is there to hear more of it.
  isOver = true
  editor.input.destroy()
  await toAgent
  await recorder.take(conversation.ended(signals.wasTold()))
  await recorder.settle()
  scribe.close()
  signals.stop()
  return end
}

type Broken = (what: string) => (error: Error) => void

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function endOf(child: ChildProcess, tell: (text: string) => void): Promise<AgentEnd> {
  const { promise, resolve } = Promise.withResolvers<AgentEnd>()
  child.on('error', (error) => {
    if (child.pid !== undefined) return
    tell(`turnback: the agent could not be started: ${error.message}`)
    resolve({ code: NOT_STARTED })
  })
  child.on('exit', (code, signal) => resolve(signal === null ? { code: code ?? 1 } : { signal }))
  return promise
}

/** What this process is told by a signal, it tells the agent, and goes on until that has ended. */
function passSignalsOn(child: ChildProcess) {
  let wasTold = false
  const handlers = PASSED_ON.map((signal) => {
    const handler = (): void => {
      wasTold = true
      child.kill(signal)
    }
    // There may be one that ends this process at once.
    process.removeAllListeners(signal)
    process.on(signal, handler)
    return [signal, handler] as const
  })
  return {
    wasTold: () => wasTold,
    stop: () => {
      for (const [signal, handler] of handlers) process.removeListener(signal, handler)
    },
  }
}

/** The name of a program, without folder. */
function nameOf(command: string): string {
  return command.slice(command.lastIndexOf('/') + 1)
}

/** Ends this process as the agent ended: by the same signal, or else with the exit code that is returned. */
export function endAs(end: AgentEnd): number {
  if ('code' in end) return end.code
  process.kill(process.pid, end.signal)
  // One that does not end a process, or not at once.
  return 128 + (constants.signals[end.signal] ?? 0)
}
