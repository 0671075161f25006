import { DomainError } from '@turnback/core'
import { makeLogFile } from '#store/log-file.ts'
import { connectCaller, getConnection } from '#sync/login.ts'
import { findPause } from '#sync/pause.ts'
import { Pusher, type PushResult } from '#sync/push.ts'
import { listUnsettled, settleAll } from '#sync/settle.ts'
import type { Context, Register } from './context.ts'
import { EXIT } from './exit-code.ts'

export const register: Register = (program, context) => {
  program
    .command('push')
    .description('send what waits to be sent')
    .action(async () => {
      const { deps } = context
      if (findPause(deps.log, deps.clock.nowMs()) !== null) {
        const message = 'Sending is paused on this machine; `turnback pause --end` ends that.'
        throw new DomainError('POLICY_REFUSED', {}, { message })
      }
      tell(context, await push(context))
    })
}

async function push(context: Context): Promise<PushResult> {
  const { deps, env } = context
  const caller = connectCaller(deps, getConnection(deps.home, env))
  try {
    const note = makeLogFile(deps.home.logs, 'push', () => deps.clock.nowMs())
    await settleAll(deps, listUnsettled(deps), note)
    const { log, blobs, clock } = deps
    return await new Pusher({ log, blobs, clock, identity: deps.identity(), caller, note }).run()
  } finally {
    caller.close()
  }
}

function tell(context: Context, result: PushResult): void {
  const { pushed, reports, unpushed, error } = result
  const setAside = result.setAside.map(({ turn, code, message }) => ({ turn, reason: `${code}: ${message}` }))
  if (error !== null && pushed + reports + setAside.length === 0) {
    throw new DomainError(
      error.code,
      { ...error.details, unpushed },
      { message: error.message, cause: error },
    )
  }
  if (error !== null || setAside.length > 0) context.exitCode = EXIT.partly
  const trouble = error === null ? {} : { error: error.toJSON() }
  context.print({ pushed, reports, unpushed, setAside, ...trouble }, () =>
    [
      `sent ${pushed} turns and ${reports} reports; ${unpushed} wait`,
      ...setAside.map(({ turn, reason }) => `set aside: ${turn}: ${reason}`),
      ...(error === null ? [] : [`stopped: ${error.message} (${error.code})`]),
    ].join('\n'),
  )
}
