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
      printReport(context, await recover(context.deps, context.getWorkspace(), how))
    })
}
