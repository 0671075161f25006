import { DomainError } from '@turnback/core'
import { CLIENT_VERSION } from '#client-version.ts'
import { runResident } from '#resident/resident.ts'
import { findService, installService } from '#resident/service.ts'
import { startResident, stopResident, tellStarter } from '#resident/start.ts'
import { findResident } from '#store/resident-files.ts'
import { findConnection } from '#sync/login.ts'
import type { Context, Register, RunLine } from './context.ts'

export const register: Register = (program, context, runLine) => {
  program
    .command('connect')
    .option('--foreground', 'stay in this terminal')
    .option('--service', 'have it started at each login: a user unit of systemd, an agent of launchd')
    .option('--dry-run', 'with --service: print the file and do nothing')
    .description(
      'start the resident client: it watches trees, serves commands, and sends turns once there is a login',
    )
    .action(async (options: Options) => {
      if (options.dryRun === true && options.service !== true)
        throw new DomainError('USAGE', {}, { message: '--dry-run goes with --service.' })
      if (options.service === true) await install(context, options.dryRun === true)
      else if (options.foreground === true) await stay(context, runLine)
      else await goToBackground(context)
    })
}

interface Options {
  readonly foreground?: boolean
  readonly service?: boolean
  readonly dryRun?: boolean
}

async function install(context: Context, isDryRun: boolean): Promise<void> {
  const { deps, env } = context
  const service = findService(deps.home, env)
  const { manager, file, text, start } = service
  const commands = start.map((words) => words.join(' '))
  if (isDryRun) return context.print({ manager, file, text, commands }, () => `${file}:\n${text}`)
  // Only one can be; the one that the manager starts is to be it.
  const stopped = await stopResident(deps)
  const written = await installService(service)
  context.print({ manager, file, written, commands, stopped }, () =>
    [
      `${written ? 'wrote' : 'found as it should be:'} ${file}`,
      ...commands.map((line) => `ran ${line}`),
      'the resident client now starts at each login; `turnback disconnect --service` undoes this',
    ].join('\n'),
  )
}

async function goToBackground(context: Context): Promise<void> {
  const { deps, env } = context
  const before = findResident(deps.home.store)
  const isOld = before !== null && (before.isOutdated || before.version !== CLIENT_VERSION)
  if (isOld) await stopResident(deps)
  const { process: started } = await startResident(deps, env, process.argv[1] ?? '')
  const alreadyRunning = before?.process.pid === started.pid
  const loggedIn = findConnection(deps.home, env) !== null
  context.print({ pid: started.pid, alreadyRunning, loggedIn, logs: deps.home.logs }, () =>
    [
      `${alreadyRunning ? 'already running' : 'running'} as process ${started.pid}; log in ${deps.home.logs}`,
      ...(loggedIn ? [] : ['not logged in yet: turns stay here until `turnback login`']),
    ].join('\n'),
  )
}

async function stay(context: Context, runLine: RunLine): Promise<void> {
  // The starter goes away, and with it the other end of this.
  process.stderr.on('error', () => undefined)
  let isFirst: boolean
  try {
    isFirst = await runResident({
      env: context.env,
      runLine({ argv, folder, parentPid, talksToTerminal }, env, streams, deps, isWaiting) {
        const caller = { env, folder, pid: parentPid, isPerson: talksToTerminal, isWaiting }
        return runLine(argv, caller, streams, deps)
      },
      ready() {
        tellStarter({ ready: true })
        if (process.stderr.isTTY)
          context.talk(`connected client is up (process ${process.pid}); end it with Ctrl-C`)
      },
    })
  } catch (error) {
    tellStarter({ ready: false, why: error instanceof Error ? error.message : String(error) })
    throw error
  }
  // One that was started at the same moment was quicker, and does the same.
  if (!isFirst) tellStarter({ ready: true })
  context.print({ pid: process.pid, alreadyRunning: !isFirst }, () => (isFirst ? 'ended' : 'already running'))
}
