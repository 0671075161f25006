import type { TurnSummary } from '@turnback/core/api'
import Link from 'next/link'
import { memo } from 'react'
import { durationBetween, formatClock, formatMoment } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { makeVisible } from '#ui/visible.ts'
import { KindIcon, TurnBadges } from './turn-badges.tsx'
import { TurnCounts } from './turn-counts.tsx'
import { titleOf } from './turn-words.ts'

interface TurnRowProps {
  readonly turn: TurnSummary
  /** It came while the list was looked at. */
  readonly isNew: boolean
}

/** One turn. The whole row is the link; its name is the prompt. */
export const TurnRow = memo(function TurnRow({ turn, isNew }: TurnRowProps) {
  const title = makeVisible(titleOf(turn))
  const isMuted = turn.undone === 'yes' || turn.kind === 'outside'
  return (
    <li className={`[contain-intrinsic-size:auto_4rem] [content-visibility:auto] ${isNew ? 'arrive' : ''}`}>
      <Link
        href={paths.turn(turn.project, turn.turn)}
        prefetch={false}
        data-turn-link=""
        className="flex min-h-16 items-start gap-3 px-3 py-3 -outline-offset-2 hover:bg-hover sm:px-4"
      >
        <KindIcon kind={turn.kind} />
        <span className="min-w-0 flex-1">
          <span className="flex min-w-0 items-start gap-2">
            <span
              className={`line-clamp-2 min-w-0 flex-1 font-medium [overflow-wrap:anywhere] sm:line-clamp-1 ${isMuted ? 'text-muted' : ''} ${turn.undone === 'yes' ? 'line-through decoration-faint/60' : ''}`}
            >
              {title}
            </span>
            <time
              dateTime={turn.endedAt}
              title={formatMoment(turn.endedAt)}
              className="shrink-0 text-xs leading-5 text-faint tabular-nums"
            >
              {formatClock(turn.endedAt)}
            </time>
          </span>
          <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <RowFacts turn={turn} />
            <span className="flex flex-wrap items-center gap-1.5 empty:hidden">
              <TurnBadges turn={turn} />
            </span>
            <span className="sm:ml-auto">
              <TurnCounts turn={turn} />
            </span>
          </span>
        </span>
      </Link>
    </li>
  )
})

function RowFacts({ turn }: { turn: TurnSummary }) {
  const facts = [
    turn.agent ?? (turn.kind === 'outside' ? 'no agent' : turn.ownerName),
    turn.machineName,
    turn.workspaceName,
    ...(turn.kind === 'agent' || turn.kind === 'task' ? [durationBetween(turn.startedAt, turn.endedAt)] : []),
  ]
  return (
    <span className="flex min-w-0 max-w-full flex-wrap text-xs text-faint">
      {facts.map((fact, place) => (
        // The place tells what the fact is.
        <span key={place} className="max-w-full truncate">
          {place > 0 && <span className="px-1.5">·</span>}
          {makeVisible(fact)}
        </span>
      ))}
    </span>
  )
}
