import { executeRestore } from '#restore/execute.ts'
import type { Register } from './context.ts'
import { printReport } from './report-words.ts'
import { addManner, type RunOptions, toAsk } from './restore-options.ts'

export const register: Register = (program, context) => {
  const command = program.command('redo').description('take the latest undo or restore back')
  addManner(command).action(async (options: RunOptions) => {
    const ask = toAsk(context, context.getWorkspace(), { kind: 'redo' }, options)
    const report = await executeRestore(context.deps, ask, (text) => context.talk(text))
    printReport(context, report, { command: 'redo', scope: [], session: null })
  })
}
