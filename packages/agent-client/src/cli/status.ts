import { describeSync, type SyncStatus } from '#sync/status.ts'
import { cutOffInWords, findCutOff } from '#task/claim.ts'
import type { Register } from './context.ts'
import { formerInWords, listFormerHistories } from './former-places.ts'
import { lookAfterTurns } from './look-after.ts'

export const register: Register = (program, context) => {
  program
    .command('status')
    .description('what is open, what waits to be sent, how much disk is used')
    .action(async () => {
      await lookAfterTurns(context)
      const { deps } = context
      const workspace = context.findWorkspace()
      const open = workspace === null ? [] : deps.log.listOpenTurns(workspace.id)
      const sync = describeSync(deps, context.env)
      const cutOffTask = workspace === null ? null : findCutOff(deps, workspace)
      const formerHistories = listFormerHistories(deps, context.folder)
      const result = {
        workspace: workspace?.id ?? null,
        openTurns: open.map(({ turn, number, session, agent, startedAt }) => ({
          turn,
          number,
          session,
          agent,
          startedAt,
        })),
        ...sync,
        interruptedRestore: workspace === null ? null : (deps.log.findJournal(workspace.id)?.restore ?? null),
        cutOffTask,
        formerHistories,
        disk: { bytes: deps.packs.bytesOnDisk(), budget: deps.config.diskBudgetBytes },
      }
      context.print(result, () =>
        [
          workspace === null ? 'not in a workspace; `turnback init` makes this folder one' : workspace.root,
          ...formerHistories.map(formerInWords),
          `open turns: ${open.length === 0 ? 'none' : open.map(({ number }) => `@${number}`).join(' ')}`,
          ...describeInWords(sync),
          ...(result.interruptedRestore === null ? [] : ['a restore was cut off: run `turnback recover`']),
          ...(cutOffTask === null ? [] : [cutOffInWords(cutOffTask)]),
          `store: ${result.disk.bytes} of ${result.disk.budget} bytes`,
        ].join('\n'),
      )
    })
}

function describeInWords(sync: SyncStatus): string[] {
  const service = sync.server ?? 'not logged in'
  return [
    residentInWords(sync.resident),
    `service: ${service}, ${sync.connected ? 'connected' : 'not connected'}`,
    `to be sent: ${sync.unpushed}, set aside: ${sync.setAside.length}`,
    ...sync.setAside.map(({ turn, reason }) => `  ${turn}: ${reason}`),
    ...(sync.pausedUntil === null ? [] : ['paused: `turnback pause --end` goes on']),
    ...sync.pendingRemote.map(
      ({ requestedBy, command }) => `${requestedBy.name} asks for a restore; to agree: ${command}`,
    ),
    ...(sync.lastError === undefined
      ? []
      : [`last trouble: ${sync.lastError.message} (${sync.lastError.code})`]),
  ]
}

function residentInWords(resident: SyncStatus['resident']): string {
  if (resident === null) return 'resident client: not running; `turnback connect` starts it'
  const { pid, serves, watches, isOutdated } = resident
  if (isOutdated)
    return `resident client: process ${pid}, of an older version; \`turnback connect\` renews it`
  const does = [...(serves ? ['serves commands'] : []), ...(watches ? ['watches trees'] : [])]
  return `resident client: process ${pid}, ${does.length === 0 ? 'only sends turns' : does.join(', ')}`
}
