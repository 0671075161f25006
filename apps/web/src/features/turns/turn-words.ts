import type { EndReason, TurnKind } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { firstLine } from '#lib/format.ts'

/** What people call the kinds. */
export const kindWords: Readonly<Record<TurnKind, string>> = {
  agent: 'Agent turn',
  task: 'Task',
  checkpoint: 'Checkpoint',
  restore: 'Rewind',
  outside: 'Outside change',
}

/** How a turn ended, when that is worth a word; a completed turn needs none. */
export const endWords: Readonly<Record<Exclude<EndReason, 'completed'>, { label: string; meaning: string }>> =
  {
    failed: { label: 'Failed', meaning: 'The agent said that it failed.' },
    interrupted: { label: 'Interrupted', meaning: 'The turn was cut off before the agent had ended it.' },
    superseded: {
      label: 'Superseded',
      meaning: 'The next turn of the session began before this one was ended.',
    },
    lost: {
      label: 'Lost',
      meaning: 'The agent went away without ending the turn; it was closed afterwards.',
    },
  }

/** What a turn is called in lists and headings: its prompt's first line, else what it is. */
export function titleOf(turn: Pick<TurnSummary, 'kind' | 'prompt' | 'label' | 'number'>): string {
  const prompt = turn.prompt === null ? '' : firstLine(turn.prompt)
  if (prompt !== '') return prompt
  const label = turn.label === null ? '' : firstLine(turn.label)
  switch (turn.kind) {
    case 'agent':
      return label === '' ? `Turn ${turn.number}, no prompt recorded` : label
    case 'task':
      return label === '' ? `Task of turn ${turn.number}` : label
    case 'checkpoint':
      return label === '' ? `Checkpoint ${turn.number}` : `Checkpoint: ${label}`
    case 'restore':
      return label === '' ? `Rewind (turn ${turn.number})` : `Rewind: ${label}`
    case 'outside':
      return 'Changes made outside of turns'
  }
}
