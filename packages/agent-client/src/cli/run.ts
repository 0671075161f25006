import type { ClientDeps } from '#deps.ts'
import { findCommandName } from './command-name.ts'
import { PLAIN_COMMANDS } from './commands.ts'
import { type Caller, Context, type Streams } from './context.ts'
import { noteHookTrouble } from './hook-trouble.ts'
import { parsePlainly } from './plain.ts'

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
  const context = new Context(caller, streams, opened, runCommandLine)
  const name = findCommandName(argv)
  try {
    await run(name, argv, context)
  } catch (error) {
    if (name === 'hook') noteHookTrouble(context, error)
    else context.fail(error, asksForJson(argv))
  } finally {
    context.close()
  }
  return context.exitCode
}

async function run(name: string | null, argv: readonly string[], context: Context): Promise<void> {
  const load = name !== null && Object.hasOwn(PLAIN_COMMANDS, name) ? PLAIN_COMMANDS[name] : undefined
  if (name !== null && load !== undefined) {
    const { register } = await load()
    const line = parsePlainly(name, argv, register, context)
    if (line !== null) {
      context.setOptions(line.common)
      return line.run()
    }
  }
  const { runByProgram } = await import('./program.ts')
  return runByProgram(name, argv, context)
}

/** Before the line is understood, as far as it can be told: what follows `--` belongs to another program. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}
