import type { Register } from './context.ts'

export const register: Register = (program, context) => {
  program
    .command('status')
    .description('what is open, what waits to be sent, how much disk is used')
    .action(() => {
      const { deps } = context
      const workspace = context.findWorkspace()
      const open = workspace === null ? [] : deps.log.listOpenTurns(workspace.id)
      const result = {
        workspace: workspace?.id ?? null,
        openTurns: open.map(({ turn, number, session, agent, startedAt }) => ({
          turn,
          number,
          session,
          agent,
          startedAt,
        })),
        ...deps.log.countOutbox(),
        connected: false,
        interruptedRestore: workspace === null ? null : (deps.log.findJournal(workspace.id)?.restore ?? null),
        disk: { bytes: deps.packs.bytesOnDisk(), budget: deps.config.diskBudgetBytes },
      }
      context.print(result, () =>
        [
          workspace === null ? 'not in a workspace' : workspace.root,
          `open turns: ${open.length === 0 ? 'none' : open.map(({ number }) => `@${number}`).join(' ')}`,
          `to be sent: ${result.unpushed}, set aside: ${result.setAside}`,
          ...(result.interruptedRestore === null ? [] : ['a restore was cut off: run `turnback recover`']),
          `store: ${result.disk.bytes} of ${result.disk.budget} bytes`,
        ].join('\n'),
      )
    })
}
