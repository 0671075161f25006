import { DomainError, restoreIdSchema } from '@turnback/core'
import { createRemoteRestores } from '#restore/remote.ts'
import { makeLogFile } from '#store/log-file.ts'
import { Commands } from '#sync/commands.ts'
import type { Register } from './context.ts'
import { printReport } from './report-words.ts'

export const register: Register = (program, context) => {
  program
    .command('approve')
    .argument('<restore>', 'id of the restore that was asked for, as `status` lists it')
    .description(
      'agree to a restore that was asked for from afar: its plan is carried out, and reported there',
    )
    .action(async (given: string) => {
      const restore = restoreIdSchema.safeParse(given)
      if (!restore.success) {
        const message = `${given} is no id of a restore; \`turnback status\` lists those that wait for a yes.`
        throw new DomainError('USAGE', { restore: given }, { message })
      }
      const { deps } = context
      const commands = new Commands({
        deps,
        restores: createRemoteRestores(deps),
        note: makeLogFile(deps.home.logs, 'approve', () => deps.clock.nowMs()),
        // The resident sees the report in the store; without one it goes with the next push.
        wakePush: () => undefined,
      })
      const report = await commands.approve(restore.data)
      printReport(context, report, { command: 'approve', scope: [], session: null })
    })
}
