import type { Entry, Source, State } from '@turnback/core'
import { skipWords } from '@turnback/core'
import { formatBytes, formatMode } from '#lib/format.ts'

export type ListedEntry = Omit<Entry, 'steps'>

/** What happened to a path, in the words of the page. */
export type EntryStatus = 'added' | 'deleted' | 'modified' | 'mode' | 'type' | 'skipped'

export const statusWords: Readonly<Record<EntryStatus, { label: string; sign: string }>> = {
  added: { label: 'Added', sign: 'A' },
  deleted: { label: 'Deleted', sign: 'D' },
  modified: { label: 'Modified', sign: 'M' },
  mode: { label: 'Mode changed', sign: 'X' },
  type: { label: 'Type changed', sign: 'T' },
  skipped: { label: 'Not captured', sign: 'S' },
}

export function statusOf({ before, after }: Pick<Entry, 'before' | 'after'>): EntryStatus {
  if (before.kind === 'absent') return 'added'
  if (after.kind === 'absent') return 'deleted'
  if (before.kind === 'skipped' || after.kind === 'skipped') return 'skipped'
  if (before.kind !== after.kind) return 'type'
  if (before.kind === 'dir') return 'mode'
  if (before.kind === 'file' && after.kind === 'file' && before.blob === after.blob) return 'mode'
  return 'modified'
}

export const sourceWords: Readonly<Record<Source, { label: string; meaning: string }>> = {
  tool: { label: 'edit tool', meaning: 'Written by an edit tool of the agent.' },
  shell: { label: 'shell', meaning: 'Written by a command that the agent ran.' },
  unknown: {
    label: 'unknown writer',
    meaning: 'Changed while the turn was open; no tool event names this path.',
  },
  shared: {
    label: 'shared',
    meaning: 'Several turns were open at once and none of their tools names this path.',
  },
  outside: { label: 'outside', meaning: 'Changed while no turn was open.' },
}

/** One state in a few words: `file, 1.2 KB, mode 644`. */
export function describeState(state: State): string {
  switch (state.kind) {
    case 'file':
      return `file, ${formatBytes(state.sizeBytes)}, mode ${formatMode(state.mode)}`
    case 'symlink':
      return `link to ${state.target}`
    case 'dir':
      return `folder, mode ${formatMode(state.mode)}`
    case 'absent':
      return 'not there'
    case 'skipped':
      return `there, not captured: ${skipWords[state.reason]}${state.sizeBytes === undefined ? '' : ` (${formatBytes(state.sizeBytes)})`}`
  }
}

/** How an entry is shown. Only `text` needs the service: all else is known from the states. */
export type EntryShape = 'text' | 'sealed' | 'skipped' | 'mode' | 'states'

export function shapeOf(entry: ListedEntry): EntryShape {
  const { before, after } = entry
  if (before.kind === 'skipped' || after.kind === 'skipped') return 'skipped'
  if (statusOf(entry) === 'mode') return 'mode'
  if (entry.sealed) return 'sealed'
  return before.kind === 'file' || after.kind === 'file' ? 'text' : 'states'
}

/** The mode's change, when the bits differ between two files or two folders. */
export function modeChange({
  before,
  after,
}: Pick<Entry, 'before' | 'after'>): { from: string; to: string } | null {
  if (before.kind !== 'file' && before.kind !== 'dir') return null
  if (after.kind !== before.kind || after.mode === before.mode) return null
  return { from: formatMode(before.mode), to: formatMode(after.mode) }
}
