import type { RestoreId } from '@turnback/core'
import { type Begun, beginTurn, beginTurnWithin } from '#capture/turns.ts'
import { addAgentOption, findAgentPid } from './agent-option.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import type { PlainRegister } from './plain.ts'
import { addSessionOption } from './session-option.ts'
import { addWithinOption, parseWithin } from './within-option.ts'

interface Options {
  readonly session: string
  readonly turn?: string
  readonly agent?: string
  readonly agentPid?: string
  readonly prompt?: string
  readonly within?: string
}

export const register: PlainRegister = (program, context) => {
  addWithinOption(addAgentOption(addSessionOption(program.command('begin'))))
    .option('--turn <key>', 'the agent’s own name of the turn: the same key is the same turn')
    .option('--agent <name>', 'name of the agent')
    .option('--prompt <text>', 'what the agent was asked, or - to read it from standard input')
    .description('begin a turn: look at the tree before the agent acts')
    .action(async (options: Options) => {
      const began = performance.now()
      const within = parseWithin(options.within)
      const prompt = options.prompt === '-' ? await context.readStdin() : (options.prompt ?? null)
      const { workspace, first } = await ensureWorkspace(context, { isLookLater: within !== null })
      const { deps } = context
      const request = {
        session: options.session,
        key: options.turn ?? null,
        kind: 'agent',
        agent: options.agent === undefined ? null : { name: options.agent, version: null },
        prompt,
        task: null,
        agentPid: findAgentPid(context, options.agentPid),
        lateStart: false,
        confirm: context.confirm,
      } as const
      const begun =
        within === null
          ? await deps.leases.run(workspace, 'capture', (lease) =>
              beginTurn(deps, lease, workspace, { ...request, deadlineMs: null }),
            )
          : await beginTurnWithin(deps, workspace, request, within)
      const result = {
        turn: begun.turn,
        number: begun.number,
        session: options.session,
        partial: begun.partial,
        lateStart: begun.lateStart,
        notRestorable: begun.notRestorable,
        interruptedRestore: deps.log.findJournal(workspace.id)?.restore ?? null,
        statted: begun.statted + (first?.statted ?? 0),
        hashed: begun.hashed + (first?.hashed ?? 0),
        durationMs: Math.round(performance.now() - began),
      }
      context.print(result, () => inWords(begun, result.interruptedRestore))
    })
}

const CUT_OFF =
  'a restore was cut off here, and the tree is as it left it: `turnback recover` finishes it, `turnback recover --abort` takes back what it did'

function inWords(
  { turn, number, partial, notRestorable }: Begun,
  interruptedRestore: RestoreId | null,
): string {
  const lost = notRestorable.map(({ reason, count }) => `${count} ${reason}`).join(', ')
  return [
    `turn ${number} (${turn}) began`,
    ...(partial ? ['not everything could be looked at; `show` says what, once it has ended'] : []),
    ...(lost === '' ? [] : [`what can not be given back: ${lost}`]),
    ...(interruptedRestore === null ? [] : [CUT_OFF]),
  ].join('\n')
}
