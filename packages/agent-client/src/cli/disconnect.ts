import { stopResident } from '#resident/start.ts'
import type { Register } from './context.ts'

export const register: Register = (program, context) => {
  program
    .command('disconnect')
    .description('end the resident client')
    .action(async () => {
      const stopped = await stopResident(context.deps)
      context.print({ connected: false, stopped }, () =>
        stopped === null ? 'was not running' : `ended process ${stopped}`,
      )
    })
}
