import { executeRestore } from '#restore/execute.ts'
import type { Register } from './context.ts'
import { findTurnByName } from './find-turn.ts'
import { printReport } from './report-words.ts'
import {
  addRunOptions,
  addScopeOptions,
  type RunOptions,
  type ScopeOptions,
  scopeWords,
  toAsk,
} from './restore-options.ts'

export const register: Register = (program, context) => {
  const command = program
    .command('restore')
    .argument('<turn>', 'id, letters of it, number or last')
    .description('return the tree to before a turn; what you changed yourself since is kept')
  addRunOptions(addScopeOptions(command, 'own')).action(
    async (name: string, options: ScopeOptions & RunOptions) => {
      const workspace = context.getWorkspace()
      const { turn } = findTurnByName(context.deps.log, workspace, name)
      const ask = toAsk(context, workspace, { kind: 'turn', turn }, options)
      const report = await executeRestore(context.deps, ask, (text) => context.talk(text))
      printReport(context, report, { command: 'restore', scope: scopeWords(options), session: null })
    },
  )
}
