import { resolve } from 'node:path'
import type { Register } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { summariseTree } from './summary.ts'
import { onOneLine } from './visible.ts'

export const register: Register = (program, context) => {
  program
    .command('init')
    .argument('[dir]', 'folder to watch over; by default the one that this folder belongs to')
    .option('--project <name>', 'project that the workspace belongs to')
    .description('take a folder under watch and capture it for the first time')
    .action(async (dir: string | undefined, options: { project?: string }) => {
      const { workspace, first } = await ensureWorkspace(context, {
        ...(dir === undefined ? {} : { folder: resolve(context.folder, dir) }),
        project: options.project ?? null,
        countExcluded: true,
      })
      const { files, bytes, skipped } = first ?? summariseTree(context.deps, workspace)
      const result = {
        workspace: workspace.id,
        root: workspace.root,
        project: workspace.project,
        files,
        bytes,
        skipped,
      }
      context.print(result, () =>
        [
          `${workspace.root}: ${files} files, ${bytes} bytes`,
          ...skipped.map(({ path, reason }) => `not captured: ${onOneLine(path)} (${reason})`),
        ].join('\n'),
      )
    })
}
