import type { ClientDeps } from '#deps.ts'
import { findCommandName } from './command-name.ts'
import { type Caller, Context, type Streams } from './context.ts'
import { runIn, runPlainLine } from './run-plain.ts'

/**
 * Runs one command line.
 * @param opened the store of a process that stays; else it is opened for this command, and closed after it
 * @returns the exit code
 */
export async function runCommandLine(
  argv: readonly string[],
  caller: Caller,
  streams: Streams,
  opened: ClientDeps | null = null,
): Promise<number> {
  const code = await runPlainLine(argv, caller, streams, opened)
  if (code !== null) return code
  const name = findCommandName(argv)
  return runIn(new Context(caller, streams, opened), name, argv, async (context) => {
    const { runByProgram } = await import('./program.ts')
    await runByProgram(name, argv, context, runCommandLine)
  })
}
