import { makeCheckpoint } from '#capture/checkpoint.ts'
import type { Register } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { toRelPath } from './paths.ts'

export const register: Register = (program, context) => {
  program
    .command('checkpoint')
    .argument('[path...]', 'what it is of; by default the whole tree')
    .option('--label <text>', 'a name for people')
    .option('--task <id>', 'the task that it belongs to')
    .description('make a moment that can be returned to')
    .action(async (typed: string[], options: { label?: string; task?: string }) => {
      const { workspace } = await ensureWorkspace(context)
      const { deps } = context
      const named = typed.map((path) => toRelPath(workspace, context.folder, path))
      const paths = named.length === 0 || named.includes('') ? null : named
      const row = await deps.leases.run(workspace, 'capture', (lease) =>
        makeCheckpoint(deps, lease, workspace, {
          label: options.label ?? null,
          task: options.task ?? null,
          paths,
        }),
      )
      context.print(
        { turn: row.turn, label: row.label, paths },
        () => `checkpoint @${row.number} (${row.turn})`,
      )
    })
}
