import { recover } from '#restore/recover.ts'
import type { Register } from './context.ts'
import { printReport } from './report-words.ts'

export const register: Register = (program, context) => {
  program
    .command('recover')
    .option('--abort', 'give back what it had written instead')
    .description('finish a restore that was cut off')
    .action(async (options: { abort?: boolean }) => {
      const how = options.abort === true ? 'abort' : 'finish'
      const report = await recover(context.deps, context.getWorkspace(), how)
      printReport(context, report, {
        command: how === 'abort' ? 'abort' : 'recover',
        scope: [],
        session: null,
      })
    })
}
