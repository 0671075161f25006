import { readUsage, type WorkspaceUsage } from '#store/usage.ts'
import type { Register } from './context.ts'
import { summariseTree } from './summary.ts'

export const register: Register = (program, context) => {
  program
    .command('usage')
    .description('what the store holds, by workspace')
    .action(() => {
      const { deps } = context
      const usage = readUsage(deps.db, deps.log)
      const workspaces = deps.log.listWorkspaces().flatMap(({ id, root }) => {
        const used = usage.workspaces.get(id)
        if (used === undefined) return []
        const { files, bytes } = summariseTree(deps, { id })
        return [{ workspace: id, root, files, bytes, ...used }]
      })
      const disk = { bytes: deps.packs.bytesOnDisk(), budget: deps.config.diskBudgetBytes }
      const { retentionDays, retentionTurns } = deps.config
      const limits = { days: retentionDays, turns: retentionTurns, bytes: disk.budget }
      context.print({ disk, limits, total: usage.total, unused: usage.unused, workspaces }, () =>
        [
          `${inMiB(disk.bytes)} of ${inMiB(disk.budget)}, ${usage.total.blobs} contents of ${inMiB(usage.total.contentBytes)}`,
          ...(usage.unused.blobs === 0 ? [] : [`${inMiB(usage.unused.storedBytes)} not in use any more`]),
          ...workspaces.flatMap((workspace) => inWords(workspace)),
        ].join('\n'),
      )
    })
}

function inWords(workspace: WorkspaceUsage & { root: string; files: number; bytes: number }): string[] {
  const { root, turns, oldestTurn, pinnedTurns, removedTurns } = workspace
  const since = oldestTurn === null ? '' : ` since ${oldestTurn.startedAt.slice(0, 10)}`
  const more = [
    ...(pinnedTurns === 0 ? [] : [`${pinnedTurns} pinned`]),
    ...(removedTurns === 0 ? [] : [`${removedTurns} older ones removed`]),
  ]
  return [
    root,
    `  ${turns} turns${since}${more.length === 0 ? '' : ` (${more.join(', ')})`}; now ${workspace.files} files of ${inMiB(workspace.bytes)}`,
    `  ${inMiB(workspace.storedBytes)} stored (${inMiB(workspace.ownBytes)} for it alone); ${inMiB(workspace.contentBytes)} of contents, ${inMiB(workspace.originalBytes)} as copies`,
  ]
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}
