import { DomainError } from '@turnback/core'
import { setPause, UNTIL_RESUMED } from '#sync/pause.ts'
import type { Register } from './context.ts'

const MINUTE_MS = 60_000

export const register: Register = (program, context) => {
  program
    .command('pause')
    .option('--minutes <n>', 'end it by itself after so long')
    .option('--end', 'go on, and send what waits')
    .description('send nothing and take no requests for a while; turns are recorded all the same')
    .action(({ minutes, end }: { minutes?: string; end?: boolean }) => {
      const { deps } = context
      const until =
        minutes === undefined ? UNTIL_RESUMED : deps.clock.nowMs() + parseMinutes(minutes) * MINUTE_MS
      setPause(deps.log, end === true ? null : until)
      const shown = until === UNTIL_RESUMED ? null : new Date(until).toISOString()
      const result = end === true ? { paused: false, until: null } : { paused: true, until: shown }
      context.print(result, () => {
        if (!result.paused) return 'going on'
        return `paused until ${result.until ?? '`turnback pause --end`'}`
      })
    })
}

function parseMinutes(text: string): number {
  const minutes = Number(text)
  if (Number.isFinite(minutes) && minutes > 0) return minutes
  throw new DomainError('USAGE', {}, { message: `"${text}" is no number of minutes.` })
}
