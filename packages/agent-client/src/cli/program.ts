import { DomainError } from '@turnback/core'
import { Command, CommanderError, Help, type Option } from 'commander'
import { CLIENT_VERSION } from '#client-version.ts'
import { COMMANDS } from './commands.ts'
import type { Context, RunLine } from './context.ts'
import { EXIT } from './exit-code.ts'
import { collect, type PlainBuilder } from './plain.ts'
import { PLAIN_COMMANDS } from './plain-commands.ts'
import { asksForJson } from './run-plain.ts'

/** Understands and runs any line. @throws USAGE, and what the command throws */
export async function runByProgram(
  name: string | null,
  argv: readonly string[],
  context: Context,
  runLine: RunLine,
): Promise<void> {
  let text = ''
  try {
    const program = makeProgram(context, (more) => {
      text += more
    })
    const isPlain = name !== null && Object.hasOwn(PLAIN_COMMANDS, name)
    const isKnown = isPlain || (name !== null && Object.hasOwn(COMMANDS, name))
    // Which words there are, only all of them together know.
    const needsAll = !isKnown || name === 'completion'
    const of = <T>(all: Readonly<Record<string, T>>) =>
      Object.entries(all).flatMap(([each, load]) => (needsAll || each === name ? [load] : []))
    for (const load of of(PLAIN_COMMANDS)) (await load()).register(new ByCommander(program), context)
    for (const load of of(COMMANDS)) (await load()).register(program, context, runLine)
    // Commands inherit neither of these by themselves.
    for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput())
    if (name === null && argv.length === 0) throw usage(program.helpInformation())
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    const translated = translate(error)
    if (translated !== null) throw translated
    if (asksForJson(argv)) context.setOptions({ json: true })
    const result = isVersion(error) ? { version: text.trim() } : { help: text }
    context.print(result, () => text.trimEnd())
  }
}

/** What a plain command says, said to commander. */
export class ByCommander implements PlainBuilder {
  readonly #command: Command

  constructor(command: Command) {
    this.#command = command
  }

  command(name: string): PlainBuilder {
    return new ByCommander(this.#command.command(name))
  }

  description(text: string): this {
    this.#command.description(text)
    return this
  }

  argument(name: string, description: string): this {
    this.#command.argument(name, description)
    return this
  }

  option(flags: string, description: string, fallback?: string): this {
    this.#command.option(flags, description, fallback)
    return this
  }

  listOption(flags: string, description: string): this {
    this.#command.option(flags, description, collect, [])
    return this
  }

  requiredOption(flags: string, description: string, check?: (typed: string) => string): this {
    if (check === undefined) this.#command.requiredOption(flags, description)
    else this.#command.requiredOption(flags, description, check)
    return this
  }

  action(run: (...values: never[]) => void | Promise<void>): this {
    this.#command.action((...values) => Reflect.apply(run, undefined, values))
    return this
  }
}

/** A program with the options that every command takes. It throws instead of ending the process. */
function makeProgram(context: Context, writeOut: (text: string) => void): Command {
  const program = new Command('turnback')
    .description('History and undo for what coding agents do to your working tree.')
    .version(CLIENT_VERSION, '--version', 'print the version')
    .option('-C <dir>', 'run as if started in this folder')
    .option('--json', 'print exactly one JSON object')
    .exitOverride()
    .configureOutput({ writeOut, writeErr: () => {} })
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError(false)
  program.hook('preAction', () => context.setOptions(program.opts()))
  return program
}

/** That a list is empty unless something is given needs no words. */
function describeOption(option: Option): string {
  const isEmptyList = Array.isArray(option.defaultValue) && option.defaultValue.length === 0
  return isEmptyList ? option.description : new Help().optionDescription(option)
}

/** Null when nothing is wrong: help or the version was asked for. */
function translate(error: unknown): unknown {
  if (!(error instanceof CommanderError)) return error
  if (error.exitCode === EXIT.done) return null
  // Its own message is only a mark: options, and no command.
  if (error.code === 'commander.help') return usage('No command was given.')
  return usage(error.message.replace(/^error: /, ''))
}

function isVersion(error: unknown): boolean {
  return error instanceof CommanderError && error.code === 'commander.version'
}

function usage(message: string): DomainError {
  return new DomainError('USAGE', {}, { message: message.trimEnd() })
}
