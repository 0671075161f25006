import { DomainError } from '@turnback/core'
import type { Register } from './context.ts'
import { findTurnByName } from './find-turn.ts'

export const register: Register = (program, context) => {
  program
    .command('pin')
    .argument('<turn>', 'id, letters of it, number or last')
    .option('--remove', 'let it go again')
    .description('keep a turn for good: retention never removes it, and it can be returned to')
    .action((name: string, { remove }: { remove?: boolean }) => {
      const workspace = context.getWorkspace()
      const { log } = context.deps
      const { turn, number, kind } = findTurnByName(log, workspace, name)
      const pinned = remove !== true
      if (pinned && kind === 'outside') throw new DomainError('NOT_RESTORABLE', { turn })
      log.setPinned(turn, pinned)
      context.print(
        { turn, number, pinned },
        () => `@${number} (${turn}) is ${pinned ? 'pinned' : 'not pinned'}`,
      )
    })
}
