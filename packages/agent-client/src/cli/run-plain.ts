import type { ClientDeps } from '#deps.ts'
import { findCommandName } from './command-name.ts'
import { type Caller, Context, type Streams } from './context.ts'
import { noteHookTrouble } from './hook-trouble.ts'
import { parsePlainly } from './plain.ts'
import { PLAIN_COMMANDS } from './plain-commands.ts'

/** Runs what agents wait for, without loading commander. @returns the exit code, or null for any other line */
export async function runPlainLine(
  argv: readonly string[],
  caller: Caller,
  streams: Streams,
  opened: ClientDeps | null = null,
): Promise<number | null> {
  const name = findCommandName(argv)
  const load = name !== null && Object.hasOwn(PLAIN_COMMANDS, name) ? PLAIN_COMMANDS[name] : undefined
  if (name === null || load === undefined) return null
  const context = new Context(caller, streams, opened)
  let isPlain = true
  const code = await runIn(context, name, argv, async () => {
    const { register } = await load()
    const line = parsePlainly(name, argv, register, context)
    isPlain = line !== null
    if (line === null) return
    context.setOptions(line.common)
    await line.run()
  })
  return isPlain ? code : null
}

export async function runIn(
  context: Context,
  name: string | null,
  argv: readonly string[],
  work: (context: Context) => Promise<void>,
): Promise<number> {
  try {
    await work(context)
  } catch (error) {
    if (name === 'hook') noteHookTrouble(context, error)
    else context.fail(error, asksForJson(argv))
  } finally {
    context.close()
  }
  return context.exitCode
}

/** Before the line is understood, as far as it can be told: what follows `--` belongs to another program. */
export function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}
