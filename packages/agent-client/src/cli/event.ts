import { DomainError } from '@turnback/core'
import { noteEvent } from '#capture/note-event.ts'
import type { ToolEvent } from '#ports.ts'
import { addAgentOption, findAgentPid } from './agent-option.ts'
import { parseReason, REASONS } from './end-reason.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { findOutsidePath, listNamedPaths } from './paths.ts'
import type { PlainRegister } from './plain.ts'
import { addSessionOption } from './session-option.ts'
import { addWithinOption, parseWithin } from './within-option.ts'

const TYPES = [
  'turn.start',
  'tool.before',
  'tool.after',
  'turn.end',
  'session.end',
] as const satisfies readonly ToolEvent['type'][]

interface Options {
  readonly session: string
  readonly parentSession?: string
  readonly turn?: string
  readonly type: string
  readonly agent?: string
  readonly agentPid?: string
  readonly tool?: string
  readonly command?: string
  readonly path: readonly string[]
  readonly reason: string
  readonly within?: string
}

export const register: PlainRegister = (program, context) => {
  addWithinOption(addAgentOption(addSessionOption(program.command('event'))))
    .option('--turn <key>', 'the agent’s own name of the turn')
    .requiredOption('--type <type>', TYPES.join(', '))
    .option('--parent-session <id>', 'of a sub-agent: what it does belongs to this session’s turn')
    .option('--agent <name>', 'name of the agent')
    .option('--tool <name>', 'tool that runs')
    .option('--command <text>', 'command line that a shell tool runs')
    .listOption('--path <path>', 'file that the tool writes; may be repeated')
    .option('--reason <reason>', `with turn.end: ${REASONS.join(', ')}`, 'completed')
    .description('tell what an agent does during a turn')
    .action(async (options: Options) => {
      const type = TYPES.find((each) => each === options.type)
      if (type === undefined) throw new DomainError('USAGE', { type: options.type, known: TYPES })
      const reason = parseReason(options.reason)
      const withinSeconds = parseWithin(options.within)
      const { workspace } = await ensureWorkspace(context, { isLookLater: withinSeconds !== null })
      const turn = await noteEvent(context.deps, workspace, {
        session: options.session,
        parentSession: options.parentSession ?? null,
        key: options.turn ?? null,
        type,
        agent: options.agent === undefined ? null : { name: options.agent, version: null },
        tool: options.tool ?? null,
        command: options.command ?? null,
        paths: options.path.flatMap((path) => listNamedPaths(workspace, context.folder, path)),
        outside: options.path.flatMap((path) => findOutsidePath(workspace, context.folder, path) ?? []),
        agentPid: findAgentPid(context, options.agentPid),
        reason,
        atMs: null,
        withinSeconds,
        confirm: context.confirm,
      })
      context.print({ turn }, () => '')
    })
}
