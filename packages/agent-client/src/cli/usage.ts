import type { Register } from './context.ts'
import { summariseTree } from './summary.ts'

export const register: Register = (program, context) => {
  program
    .command('usage')
    .description('what the store holds, by workspace')
    .action(() => {
      const { deps } = context
      const workspaces = deps.log.listWorkspaces().map((workspace) => {
        const { files, bytes } = summariseTree(deps, workspace)
        const turns = deps.log.listTurns(workspace.id).length
        return { workspace: workspace.id, root: workspace.root, turns, files, bytes }
      })
      const disk = { bytes: deps.packs.bytesOnDisk(), budget: deps.config.diskBudgetBytes }
      context.print({ disk, workspaces }, () =>
        [
          `${disk.bytes} of ${disk.budget} bytes`,
          ...workspaces.map(
            ({ root, turns, files, bytes }) => `${root}: ${turns} turns, ${files} files, ${bytes} bytes`,
          ),
        ].join('\n'),
      )
    })
}
