import { type Reverted, revertTask } from '#task/revert.ts'
import type { Register } from './context.ts'
import { named } from './report-words.ts'
import { findUserName } from './restore-options.ts'

export const register: Register = (program, context) => {
  program
    .command('revert')
    .argument('<task>', 'name of a task that landed')
    .description('take one landed task back, and nothing that came after it')
    .action(async (task: string) => {
      const workspace = context.getWorkspace()
      const { deps, env, callerPid } = context
      const reverted = await revertTask(
        {
          ...{ deps, workspace, env, callerPid },
          requestedBy: { kind: 'local', name: findUserName() },
          warn: (text) => context.talk(`turnback: ${text}`),
        },
        task,
      )
      context.print(reverted, () => inWords(reverted, deps.log.findTurn(reverted.turn)?.number))
    })
}

function inWords({ task, commit, revertedBy, paths, turn }: Reverted, number: number | undefined): string {
  const name = number === undefined ? turn : `@${number}`
  const byWhat = revertedBy === null ? 'in the tree alone' : `by ${revertedBy.slice(0, 10)}`
  return [
    ...named('reverted', paths),
    commit === null
      ? `Task ${task} was taken back (turn ${name}).`
      : `Task ${task} (${commit.slice(0, 10)}) was reverted ${byWhat} (turn ${name}).`,
    `\`turnback restore ${name}\` gives the files back as they were.`,
  ].join('\n')
}
