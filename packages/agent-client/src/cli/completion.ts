import { DomainError } from '@turnback/core'
import type { Command, Option } from 'commander'
import { AGENTS } from '#adapters/adapter.ts'
import { type CommandWords, completionScript, type OptionWords, SHELLS } from './completion-script.ts'
import type { Register } from './context.ts'

/** Where an argument is one of few words. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  install: AGENTS,
  uninstall: AGENTS,
  hook: AGENTS,
  policy: ['show', 'set'],
  completion: SHELLS,
}

export const register: Register = (program, context) => {
  program
    .command('completion')
    .argument('<shell>', SHELLS.join(', '))
    .description('print what a shell reads to complete this program’s words')
    .action((name: string) => {
      const shell = SHELLS.find((each) => each === name)
      if (shell === undefined) {
        const message = `There is no completion for ${JSON.stringify(name)}, only for: ${SHELLS.join(', ')}.`
        throw new DomainError('USAGE', { shell: name, known: [...SHELLS] }, { message })
      }
      const script = completionScript(shell, readWords(program))
      if (context.isJson) context.print({ shell, script }, () => script)
      else context.printBytes(Buffer.from(script))
    })
}

/** All that can be typed, asked of the commands themselves. */
function readWords(tree: Command) {
  const help = tree.createHelp()
  const commands: CommandWords[] = help
    .visibleCommands(tree)
    .filter((command) => command.name() !== 'help')
    .map((command) => ({
      name: command.name(),
      description: command.description(),
      values: VALUES[command.name()] ?? [],
      options: help.visibleOptions(command).map(toWords),
    }))
  return { commands, common: tree.options.map(toWords) }
}

function toWords({ long, short, description, required, optional }: Option): OptionWords {
  return {
    flags: [long, short].filter((flag) => flag !== undefined && flag !== null),
    description,
    takesValue: required || optional,
  }
}
