import type { Entry, TurnManifest } from '@turnback/core'
import { describeTurn } from '#capture/sign-turns.ts'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import type { Register } from './context.ts'
import { lookAtTurn } from './look-at-turn.ts'
import { changesOfTurn } from './turn-diff.ts'
import { onOneLine } from './visible.ts'

export const register: Register = (program, context) => {
  program
    .command('show')
    .argument('<turn>', 'id, letters of it, number or last')
    .description('show what a turn did')
    .action(async (name: string) => {
      const workspace = context.getWorkspace()
      const { deps } = context
      const row = await lookAtTurn(context, workspace, name)
      const shown = row.isOpen ? describeOpen(deps, workspace, row) : deps.log.getManifest(row.turn)
      const pin = row.pinned ? { pinned: true } : {}
      context.print({ ...shown, ...pin }, () => inWords(shown, row))
    })
}

/** As the manifest will be, as far as it is known: it is signed, and takes its place in the chain, when the turn ends. */
function describeOpen(deps: ClientDeps, workspace: Workspace, row: TurnRow) {
  const entries = changesOfTurn(deps, workspace, row)
  const { overlaps, skipped, ...rest } = describeTurn(deps, workspace, row, entries)
  return {
    ...rest,
    seq: null,
    prev: null,
    machine: deps.identity().machine,
    open: true,
    overlaps,
    entries,
    skipped,
  }
}

type Shown = Pick<
  TurnManifest,
  'number' | 'turn' | 'kind' | 'agent' | 'startedAt' | 'endReason' | 'prompt' | 'entries' | 'skipped'
>

function inWords(manifest: Shown, { pinned, isOpen }: TurnRow): string {
  const { agent, endReason, kind } = manifest
  const marks = `${isOpen ? '  [open]' : ''}${pinned ? '  [pinned]' : ''}`
  const who = agent === null ? kind : `${kind}  ${onOneLine(agent.name)}`
  const how = endReason === null ? '' : `  ${endReason}`
  const head = `@${manifest.number}  ${manifest.turn}  ${who}  ${manifest.startedAt}${how}${marks}`
  const entries = manifest.entries.map((entry) => {
    const notes = [entry.source, ...(entry.sealed ? ['sealed'] : [])]
    return `${letterOf(entry)} ${onOneLine(entry.path)} (${notes.join(', ')})`
  })
  const skipped = manifest.skipped.map(({ path, reason }) => `! ${onOneLine(path)} (${reason})`)
  return [head, ...(manifest.prompt === null ? [] : [manifest.prompt]), ...entries, ...skipped].join('\n')
}

function letterOf({ before, after }: Entry): string {
  if (before.kind === 'absent') return 'A'
  if (after.kind === 'absent') return 'D'
  return before.kind === after.kind ? 'M' : 'T'
}
