import { DomainError } from '@turnback/core'
import { CommanderError } from 'commander'
import type { ClientDeps } from '#deps.ts'
import { findCommandName } from './command-name.ts'
import { COMMANDS } from './commands.ts'
import { type Caller, Context, makeProgram, type Streams } from './context.ts'
import { EXIT } from './exit-code.ts'

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
  try {
    const program = makeProgram(context)
    const name = findCommandName(argv)
    const known = name === null ? undefined : COMMANDS[name]
    const loaded =
      known === undefined ? await Promise.all(Object.values(COMMANDS).map((load) => load())) : [await known()]
    for (const { register } of loaded) register(program, context)
    // Commands inherit neither of these by themselves.
    for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput())
    if (name === null && argv.length === 0) throw usage(program.helpInformation())
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    const translated = translate(error)
    if (translated !== null) context.fail(translated, asksForJson(argv))
  } finally {
    context.close()
  }
  return context.exitCode
}

/** Null when nothing is wrong: help or the version was asked for. */
function translate(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error
  if (error.exitCode === EXIT.done) return null
  // Its own message is only a mark: options, and no command.
  if (error.code === 'commander.help') return usage('No command was given.')
  return usage(error.message)
}

function usage(message: string): DomainError {
  return new DomainError('USAGE', {}, { message: message.trimEnd() })
}

/** Before the line is understood, as far as it can be told: what follows `--` belongs to another program. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}
