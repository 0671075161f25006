import { executeRestore } from '#restore/execute.ts'
import type { Register } from './context.ts'
import { printReport } from './report-words.ts'
import {
  addRunOptions,
  addScopeOptions,
  type RunOptions,
  type ScopeOptions,
  scopeWords,
  toAsk,
} from './restore-options.ts'

interface UndoOptions extends Omit<ScopeOptions, 'session'>, RunOptions {
  readonly session?: string
}

export const register: Register = (program, context) => {
  const command = program
    .command('undo')
    .option('--session <session>', 'the latest turn of this session')
    .description('undo the latest turn that is not undone yet')
  addRunOptions(addScopeOptions(command, 'named')).action(async ({ session, ...options }: UndoOptions) => {
    const workspace = context.getWorkspace()
    const ask = toAsk(context, workspace, { kind: 'undo', session: session ?? null }, options)
    const report = await executeRestore(context.deps, ask, (text) => context.talk(text))
    printReport(context, report, { command: 'undo', scope: scopeWords(options), session: session ?? null })
  })
}
