import { DomainError } from '@turnback/core'
import { findService, removeService } from '#resident/service.ts'
import { stopResident } from '#resident/start.ts'
import type { Context, Register } from './context.ts'

interface Options {
  readonly service?: boolean
  readonly dryRun?: boolean
}

export const register: Register = (program, context) => {
  program
    .command('disconnect')
    .option('--service', 'do not have it started at login any more')
    .option('--dry-run', 'with --service: say what would be removed')
    .description('end the resident client')
    .action(async (options: Options) => {
      if (options.dryRun === true && options.service !== true)
        throw new DomainError('USAGE', {}, { message: '--dry-run goes with --service.' })
      if (options.service === true) return forget(context, options.dryRun === true)
      const stopped = await stopResident(context.deps)
      context.print({ connected: false, stopped }, () => inWords(stopped))
    })
}

async function forget(context: Context, isDryRun: boolean): Promise<void> {
  const { deps, env } = context
  const service = findService(deps.home, env)
  const { manager, file, stop } = service
  const commands = stop.map((words) => words.join(' '))
  if (isDryRun) {
    context.print({ manager, file, commands }, () =>
      [...commands.map((line) => `run ${line}`), `remove ${file}`].join('\n'),
    )
    return
  }
  const removed = await removeService(service)
  // One that was started by hand is ended too.
  const stopped = await stopResident(deps)
  context.print(
    { manager, file, removed, commands: removed ? commands : [], connected: false, stopped },
    () =>
      [
        ...(removed
          ? [...commands.map((line) => `ran ${line}`), `removed ${file}`]
          : [`there is no ${file}`]),
        inWords(stopped),
      ].join('\n'),
  )
}

function inWords(stopped: number | null): string {
  return stopped === null ? 'was not running' : `ended process ${stopped}`
}
