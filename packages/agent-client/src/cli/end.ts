import { endTurn } from '#capture/turns.ts'
import { parseReason, REASONS } from './end-reason.ts'
import type { PlainRegister } from './plain.ts'
import { addSessionOption } from './session-option.ts'

export const register: PlainRegister = (program, context) => {
  addSessionOption(program.command('end'))
    .option('--turn <key>', 'the agent’s own name of the turn')
    .option('--reason <reason>', REASONS.join(', '), 'completed')
    .description('end a turn: record what changed since it began')
    .action(async (options: { session: string; turn?: string; reason: string }) => {
      const began = performance.now()
      const reason = parseReason(options.reason)
      const workspace = context.getWorkspace()
      const { deps } = context
      const { row, statted, hashed } = await deps.leases.run(workspace, 'capture', (lease) =>
        endTurn(deps, lease, workspace, {
          session: options.session,
          key: options.turn ?? null,
          reason,
          lastMessage: null,
          confirm: context.confirm,
        }),
      )
      const { turn, number, entries, created, changed, deleted, skipped } = row
      const durationMs = Math.round(performance.now() - began)
      const result = {
        turn,
        number,
        entries,
        created,
        changed,
        deleted,
        skipped,
        statted,
        hashed,
        durationMs,
      }
      context.print(
        result,
        () => `turn ${number} (${turn}) ended: ${created} created, ${changed} changed, ${deleted} deleted`,
      )
    })
}
