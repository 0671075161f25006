import { DomainError } from '@turnback/core'
import { noteEvent } from '#capture/turns.ts'
import type { ToolEvent } from '#ports.ts'
import type { Register } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { findRelPath } from './paths.ts'
import { addSessionOption } from './session-option.ts'

const TYPES = [
  'turn.start',
  'tool.before',
  'tool.after',
  'turn.end',
  'session.end',
] as const satisfies readonly ToolEvent['type'][]

interface Options {
  readonly session: string
  readonly turn?: string
  readonly type: string
  readonly agent?: string
  readonly tool?: string
  readonly command?: string
  readonly path: readonly string[]
}

const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

export const register: Register = (program, context) => {
  addSessionOption(program.command('event'))
    .option('--turn <key>', 'the agent’s own name of the turn')
    .requiredOption('--type <type>', TYPES.join(', '))
    .option('--agent <name>', 'name of the agent')
    .option('--tool <name>', 'tool that runs')
    .option('--command <text>', 'command line that a shell tool runs')
    .option('--path <path>', 'file that the tool names; may be repeated', collect, [])
    .description('tell what an agent does during a turn')
    .action(async (options: Options) => {
      const type = TYPES.find((each) => each === options.type)
      if (type === undefined) throw new DomainError('USAGE', { type: options.type, known: TYPES })
      const { workspace } = await ensureWorkspace(context)
      const { deps } = context
      // A tool may well touch files elsewhere; those are no paths of this workspace.
      const paths = options.path.flatMap((path) => findRelPath(workspace, context.folder, path) ?? [])
      const turn = await deps.leases.run(workspace, 'capture', (lease) =>
        noteEvent(deps, lease, workspace, {
          session: options.session,
          key: options.turn ?? null,
          type,
          agent: options.agent === undefined ? null : { name: options.agent, version: null },
          tool: options.tool ?? null,
          command: options.command ?? null,
          paths: paths.filter((path) => path !== ''),
          agentPid: null,
        }),
      )
      context.print({ turn }, () => '')
    })
}
