/*
 * Owns everything that a script starts, and ends it in reverse order: on Ctrl-C, on SIGTERM, when a part ends by itself,
 * when the script fails, and when whoever started the script is gone.
 */
import { type Part, type PartOptions, startPart, tailOf } from './part.ts'
import { say } from './progress.ts'
import { areRunning, findRunners } from './runners.ts'

const ORPHAN_POLL_MS = 1_000

export interface Supervisor {
  /** Starts a part. When it ends before the rest was asked to, everything ends with a message and exit code 1. */
  start(options: PartOptions): Part
  /** Something to do at the end, after the parts that were started later have ended. */
  atEnd(work: () => void): void
  /** Never resolves: the script ends by {@link supervise}. */
  untilEnd(): Promise<never>
}

class Ending extends Error {
  readonly exitCode: number

  constructor(exitCode: number, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Runs `work` until it returns, fails or is told to end, ends all that it started, and exits. */
export async function supervise(work: (supervisor: Supervisor) => Promise<void>): Promise<never> {
  const undo: (() => void | Promise<void>)[] = []
  const { promise: ending, reject: end } = Promise.withResolvers<never>()
  let isEnding = false

  const supervisor: Supervisor = {
    start: (options) => {
      if (isEnding) throw new Ending(1, '')
      const part = startPart(options)
      undo.push(() => part.stop())
      if (options.endsByItself) return part
      part.ended.then((way) => {
        const tail = tailOf(options.logFile)
        end(
          new Ending(1, `The ${part.name} ended by itself (${way}). The end of ${options.logFile}:\n${tail}`),
        )
      }, end)
      return part
    },
    atEnd: (action) => {
      undo.push(action)
    },
    untilEnd: () => ending,
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (isEnding) say('Still ending…')
      else end(new Ending(0, 'Ending…'))
    })
  const parent = process.ppid
  const runners = findRunners()
  setInterval(() => {
    if (process.ppid !== parent || !areRunning(runners))
      end(new Ending(0, 'Whoever started this is gone. Ending…'))
  }, ORPHAN_POLL_MS).unref()

  let exitCode = 0
  try {
    await Promise.race([work(supervisor), ending])
  } catch (error) {
    exitCode = error instanceof Ending ? error.exitCode : 1
    const text = error instanceof Error ? error.message : String(error)
    if (exitCode === 0) say(`\n${text}`)
    else console.error(`\n${text}`)
  }
  isEnding = true
  for (const action of undo.reverse()) {
    try {
      await action()
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      exitCode = 1
    }
  }
  process.exit(exitCode)
}
