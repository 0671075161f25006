/*
 * Runs one task in a CI job: `turnback run` with what the job's variables say, its result as the job's outputs and summary.
 *
 *     TASK TASK_RUN TASK_VERIFY TASK_TITLE TASK_RETRIES TASK_RETRY_FROM TASK_COMMIT TASK_ON_FAIL
 *
 * It ends as `turnback run` does: 0 when the work landed. No service is needed.
 */
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { join } from 'node:path'
import { findCi } from './find-ci.ts'
import { readInputs, toArguments, WrongInput } from './inputs.ts'
import { readResult } from './result.ts'

const launcher = join(import.meta.dirname, '../bin/turnback')
const USAGE = 2

const ci = findCi(process.env)

async function main(): Promise<number> {
  const { code, printed } = await runTurnback(toArguments(readInputs(process.env)))
  const result = readResult(printed)
  if (result === null) {
    // What went wrong was said already, in words; this is for whoever reads the job's pages.
    ci.report({ result: null, error: printed, code })
    return code === 0 ? 1 : code
  }
  ci.report({ result, error: null, code })
  return code
}

/** The agent and its checks talk into the job's log; our own one object is taken out. */
function runTurnback(args: readonly string[]): Promise<{ code: number; printed: string }> {
  const child = spawn(launcher, args, { stdio: ['inherit', 'pipe', 'inherit'] })
  const pieces: Buffer[] = []
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece))
  // A job that is cancelled gets the checkout back too: the task is told, and brings it to its end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code, signal) => {
      const ended = signal === null ? code : 128 + constants.signals[signal]
      done({ code: ended ?? 1, printed: Buffer.concat(pieces).toString('utf8') })
    })
  })
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof WrongInput)) throw error
  console.error(`turnback: ${error.message}`)
  ci.report({ result: null, error: error.message, code: USAGE })
  process.exitCode = USAGE
}
