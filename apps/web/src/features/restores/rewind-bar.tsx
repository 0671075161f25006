'use client'

import type { TurnSummary } from '@turnback/core/api'
import { RotateCcw } from 'lucide-react'
import { Button } from '#ui/button.tsx'
import { OnlineDot } from '#ui/online-dot.tsx'
import { makeVisible } from '#ui/visible.ts'
import type { RestoreAsk } from './restore-queries.ts'

/** The name of the main action: what "back" means for this kind of turn. */
export function actionOf(kind: TurnSummary['kind']): string {
  if (kind === 'checkpoint') return 'Return to this checkpoint'
  if (kind === 'restore') return 'Undo this rewind'
  return 'Rewind to before this turn'
}

/** Stays in sight at the foot of a turn: where a rewind would happen, and the tap that does it. */
export function RewindBar({ turn, onAsk }: { turn: TurnSummary; onAsk: (ask: RestoreAsk) => void }) {
  const base = { workspace: turn.workspace, turn: turn.turn }
  const canRestore = turn.kind !== 'outside'
  // On a phone the bar is one row high unless there is something to know before the tap.
  const isPlain = canRestore && turn.machineOnline && turn.undone === 'no'
  return (
    <aside
      aria-label="Rewind"
      className="sticky bottom-0 z-20 -mx-3 mt-4 border-t border-line bg-surface/95 px-3 pt-2 pb-[max(0.5rem,env(safe-area-inset-bottom))] backdrop-blur sm:bottom-4 sm:mx-auto sm:max-w-3xl sm:rounded-xl sm:border sm:px-3 sm:py-2 sm:shadow-pop"
    >
      <div
        className={`flex items-center gap-x-2.5 gap-y-1.5 sm:flex-nowrap sm:gap-x-3 ${isPlain ? '' : 'flex-wrap'}`}
      >
        <p
          className={`flex min-w-0 items-center gap-2 text-xs text-muted sm:flex-1 sm:basis-0 ${isPlain ? '' : 'flex-1 basis-full'}`}
        >
          <OnlineDot isOnline={turn.machineOnline} />
          <span className={`min-w-0 truncate ${isPlain ? 'sr-only sm:not-sr-only' : ''}`}>
            {stateText(turn)}
          </span>
        </p>
        <Button
          size="large"
          className="px-2.5 max-[23.5rem]:text-[0.8125rem] sm:px-4"
          disabled={!canRestore}
          onClick={() => onAsk({ ...base, mode: 'preview' })}
        >
          Preview first
        </Button>
        <Button
          tone="primary"
          size="large"
          className="min-w-0 flex-1 shrink px-2 max-[23.5rem]:text-[0.8125rem] sm:flex-none sm:px-4"
          disabled={!canRestore}
          title={canRestore ? undefined : 'Changes outside of turns cannot be rewound by themselves.'}
          icon={<RotateCcw className="size-4 shrink-0 max-[27rem]:hidden" aria-hidden="true" />}
          onClick={() => onAsk({ ...base, mode: 'run' })}
        >
          <span className="truncate">{actionOf(turn.kind)}</span>
        </Button>
      </div>
    </aside>
  )
}

function stateText(turn: TurnSummary): string {
  if (turn.kind === 'outside') return 'Changes outside of turns cannot be rewound by themselves.'
  const machine = makeVisible(turn.machineName)
  const where = turn.machineOnline
    ? `${machine} is online`
    : `${machine} is offline; the request waits for it`
  if (turn.undone === 'yes') return `Undone already. ${where}.`
  if (turn.undone === 'partly') return `Partly undone already. ${where}.`
  return `${where}.`
}
