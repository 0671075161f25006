import { DomainError, type Entry, type TurnManifest } from '@turnback/core'
import type { Register } from './context.ts'
import { findTurnByName } from './find-turn.ts'
import { onOneLine } from './visible.ts'

export const register: Register = (program, context) => {
  program
    .command('show')
    .argument('<turn>', 'id, letters of it, number or last')
    .description('show what a turn did')
    .action(async (name: string) => {
      const workspace = context.getWorkspace()
      const { deps } = context
      const row = findTurnByName(deps.log, workspace, name)
      if (row.isOpen) {
        throw new DomainError('TURN_NOT_FOUND', { turn: row.turn }, { message: 'This turn is still open.' })
      }
      await deps.capture.settle(workspace)
      const manifest = deps.log.getManifest(row.turn)
      const pin = row.pinned ? { pinned: true } : {}
      context.print({ ...manifest, ...pin }, () => inWords(manifest, row.pinned))
    })
}

function inWords(manifest: TurnManifest, isPinned: boolean): string {
  const pin = isPinned ? '  [pinned]' : ''
  const head = `@${manifest.number}  ${manifest.turn}  ${manifest.kind}  ${manifest.startedAt}${pin}`
  const entries = manifest.entries.map(
    (entry) => `${letterOf(entry)} ${onOneLine(entry.path)}${entry.sealed ? ' (sealed)' : ''}`,
  )
  const skipped = manifest.skipped.map(({ path, reason }) => `! ${onOneLine(path)} (${reason})`)
  return [head, ...(manifest.prompt === null ? [] : [manifest.prompt]), ...entries, ...skipped].join('\n')
}

function letterOf({ before, after }: Entry): string {
  if (before.kind === 'absent') return 'A'
  if (after.kind === 'absent') return 'D'
  return before.kind === after.kind ? 'M' : 'T'
}
