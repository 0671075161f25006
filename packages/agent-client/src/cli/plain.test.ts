import { Command } from 'commander'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCommandName } from './command-name.ts'
import { Context } from './context.ts'
import { type PlainBuilder, type PlainRegister, parsePlainly } from './plain.ts'
import { PLAIN_COMMANDS } from './plain-commands.ts'
import { ByCommander } from './program.ts'

const nobody = { env: {}, folder: '/', pid: 1, isPerson: false }
const silent = { out: () => {}, talk: () => {}, readStdin: async () => '' }
const context = new Context(nobody, silent)

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  begin: ['--session', 's'],
  event: ['--session', 's', '--type', 'turn.end'],
  end: ['--session', 's'],
  hook: ['codex'],
}

/** The same options, and an action that only tells what reached it. */
function telling(builder: PlainBuilder, tell: (values: readonly unknown[]) => void): PlainBuilder {
  return {
    command: (name) => telling(builder.command(name), tell),
    description: (text) => telling(builder.description(text), tell),
    argument: (name, description) => telling(builder.argument(name, description), tell),
    option: (flags, description, fallback) => telling(builder.option(flags, description, fallback), tell),
    listOption: (flags, description) => telling(builder.listOption(flags, description), tell),
    requiredOption: (flags, description, check) =>
      telling(builder.requiredOption(flags, description, check), tell),
    action: () => builder.action((...values) => tell(values)),
  }
}

/** What commander makes of a line; null for one that it refuses. */
function byCommander(register: PlainRegister, argv: readonly string[]): unknown {
  let told: unknown = null
  const program = new Command('turnback').option('-C <dir>').option('--json').exitOverride()
  program.configureOutput({ writeOut: () => {}, writeErr: () => {} })
  register(
    telling(new ByCommander(program), (values) => {
      told = { values: values.slice(0, -1), common: program.opts() }
    }),
    context,
  )
  for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput())
  try {
    program.parse([...argv], { from: 'user' })
  } catch {
    return null
  }
  return told
}

async function plainly(name: string, register: PlainRegister, argv: readonly string[]): Promise<unknown> {
  let told: unknown = null
  let common: unknown
  try {
    const line = parsePlainly(
      name,
      argv,
      (builder) =>
        register(
          telling(builder, (values) => (told = { values, common })),
          context,
        ),
      context,
    )
    if (line === null) return null
    common = line.common
    await line.run()
  } catch {
    return null
  }
  return told
}

async function registerOf(name: string): Promise<PlainRegister> {
  const load = PLAIN_COMMANDS[name]
  if (load === undefined) throw new Error(name)
  return (await load()).register
}

const flags = ['--session', '--turn', '--type', '--path', '--agent', '--prompt', '--reason', '--tool', '-C']
const word = fc.oneof(
  fc.constantFrom(
    ...flags,
    '--json',
    '--help',
    '--',
    '-',
    '',
    '-x',
    '--no-json',
    '--session=',
    'begin',
    'a b',
  ),
  fc.constantFrom(...flags).map((flag) => `${flag}=v=1\n`),
  fc.string({ maxLength: 3 }),
)
const pair = fc.tuple(fc.constantFrom(...flags), fc.string({ maxLength: 3 }))
const tail = fc
  .array(fc.oneof({ weight: 3, arbitrary: pair }, fc.tuple(word)), { maxLength: 6 })
  .map((all) => all.flat())

test.each(Object.keys(PLAIN_COMMANDS))(
  '%s: a line that is understood plainly is what commander makes of it',
  async (name) => {
    const register = await registerOf(name)
    let understood = 0
    await fc.assert(
      fc.asyncProperty(tail, tail, fc.boolean(), async (before, after, isValid) => {
        const argv = [...(isValid ? [] : before), name, ...(isValid ? (NEEDED[name] ?? []) : []), ...after]
        if (findCommandName(argv) !== name) return
        const plain = await plainly(name, register, argv)
        if (plain === null) return
        understood++
        expect(plain).toEqual(byCommander(register, argv))
      }),
      { numRuns: 2000 },
    )
    expect(understood).toBeGreaterThan(50)
  },
)

test('what agents send is understood plainly', async () => {
  const lines = [
    ['begin', '--session', 's1', '--turn', 'k', '--agent=claude-code', '--prompt', '-', '--json'],
    ['-C', '/tmp', '--json', 'event', '--session', 's', '--type', 'tool.after', '--path', 'a', '--path', 'b'],
    ['end', '--session', 's', '--reason', 'failed'],
    ['hook', 'claude-code'],
  ]
  for (const argv of lines) {
    const name = argv.find((each) => each in PLAIN_COMMANDS) ?? ''
    const register = await registerOf(name)
    expect(await plainly(name, register, argv)).toEqual(byCommander(register, argv))
    expect(await plainly(name, register, argv)).not.toBeNull()
  }
})
