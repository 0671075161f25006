import { beginTurn } from '#capture/turns.ts'
import type { Register } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { addSessionOption } from './session-option.ts'

interface Options {
  readonly session: string
  readonly turn?: string
  readonly agent?: string
  readonly prompt?: string
}

export const register: Register = (program, context) => {
  addSessionOption(program.command('begin'))
    .option('--turn <key>', 'the agent’s own name of the turn: the same key is the same turn')
    .option('--agent <name>', 'name of the agent')
    .option('--prompt <text>', 'what the agent was asked, or - to read it from standard input')
    .description('begin a turn: look at the tree before the agent acts')
    .action(async (options: Options) => {
      const began = performance.now()
      const prompt = options.prompt === '-' ? await context.readStdin() : (options.prompt ?? null)
      const { workspace, first } = await ensureWorkspace(context)
      const { deps } = context
      const begun = await deps.leases.run(workspace, 'capture', (lease) =>
        beginTurn(deps, lease, workspace, {
          session: options.session,
          key: options.turn ?? null,
          kind: 'agent',
          agent: options.agent === undefined ? null : { name: options.agent, version: null },
          prompt,
          task: null,
          agentPid: null,
          lateStart: false,
          deadlineMs: null,
        }),
      )
      const result = {
        turn: begun.turn,
        number: begun.number,
        session: options.session,
        partial: begun.partial,
        statted: begun.statted + (first?.statted ?? 0),
        hashed: begun.hashed + (first?.hashed ?? 0),
        durationMs: Math.round(performance.now() - began),
      }
      context.print(result, () => `turn ${begun.number} (${begun.turn}) began`)
    })
}
