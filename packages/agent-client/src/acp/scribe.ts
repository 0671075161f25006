import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { z } from 'zod'

/** One of our commands, to be run in a folder. */
export interface Order {
  readonly folder: string
  readonly words: readonly string[]
  /** What it reads from standard input, or null. */
  readonly input: string | null
}

export const orderSchema = z.object({
  folder: z.string(),
  words: z.array(z.string()),
  input: z.string().nullable(),
})

export const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
export type Failure = z.output<typeof failureSchema>['error']
const answerSchema = z.union([failureSchema, z.object({ error: z.null() })])

/**
 * A process of ours that runs commands one after the other, so that none has to start anew, and that nothing which
 * happens there (a tree of millions of files, a crash) touches the conversation.
 */
export class Scribe {
  readonly #start: () => ChildProcess
  #child: ChildProcess | null = null
  #waiting: ((failure: Failure | null) => void) | null = null

  /** @param program absolute path of `bin/turnback` */
  constructor(program: string, env: Readonly<Record<string, string | undefined>>) {
    // Of its own group: what a person's Ctrl-C ends is the agent.
    this.#start = () =>
      spawn(program, ['acp-scribe'], { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  }

  /** Has it ready before it is needed. */
  open(): void {
    this.#get()
  }

  /** One at a time. @returns what went wrong, or null */
  run(order: Order): Promise<Failure | null> {
    const { promise, resolve } = Promise.withResolvers<Failure | null>()
    this.#waiting = resolve
    this.#get().stdin?.write(`${JSON.stringify(order)}\n`)
    return promise
  }

  /** It ends when it has done what it was given. */
  close(): void {
    this.#child?.stdin?.end()
    this.#child?.unref()
  }

  #get(): ChildProcess {
    if (this.#child !== null) return this.#child
    const child = this.#start()
    this.#child = child
    const gone = (message: string): void => {
      if (this.#child !== child) return
      // The next order starts another one.
      this.#child = null
      this.#answer({ code: 'INTERNAL', message })
    }
    child.on('error', ({ message }) => gone(message))
    child.on('exit', (code, signal) => gone(`what records ended with ${signal ?? code}`))
    child.stdin?.on('error', () => undefined) // It is gone, then.
    if (child.stdout !== null)
      createInterface(child.stdout).on('line', (line) => this.#answer(readAnswer(line)))
    return child
  }

  #answer(failure: Failure | null): void {
    const answer = this.#waiting
    this.#waiting = null
    answer?.(failure)
  }
}

function readAnswer(line: string): Failure | null {
  try {
    return answerSchema.parse(JSON.parse(line)).error
  } catch {
    return { code: 'INTERNAL', message: `what records said: ${line.slice(0, 200)}` }
  }
}
