import type { TurnSummary } from '@turnback/core/api'
import { CircleSlash, Lock } from 'lucide-react'
import { plural } from '#lib/format.ts'

type Counts = Pick<TurnSummary, 'created' | 'changed' | 'deleted' | 'skipped' | 'sealed'>

/** What a turn did, as signs and numbers; the words are in the tips and for those who listen. */
export function TurnCounts({ turn }: { turn: Counts }) {
  if (turn.created + turn.changed + turn.deleted + turn.skipped + turn.sealed === 0) {
    return <span className="text-xs text-faint">no changes</span>
  }
  return (
    <span className="inline-flex items-center gap-2.5 font-mono text-xs tabular-nums">
      <Count
        sign="+"
        count={turn.created}
        words={plural(turn.created, 'file created', 'files created')}
        className="text-add"
      />
      <Count
        sign="~"
        count={turn.changed}
        words={plural(turn.changed, 'file changed', 'files changed')}
        className="text-info"
      />
      <Count
        sign="−"
        count={turn.deleted}
        words={plural(turn.deleted, 'file deleted', 'files deleted')}
        className="text-del"
      />
      <Count
        sign={<Lock className="size-3" aria-hidden="true" />}
        count={turn.sealed}
        words={`${plural(turn.sealed, 'file')} sealed: contents stay on the machine`}
        className="text-muted"
      />
      <Count
        sign={<CircleSlash className="size-3" aria-hidden="true" />}
        count={turn.skipped}
        words={`${plural(turn.skipped, 'path')} not captured`}
        className="text-warn"
      />
    </span>
  )
}

function Count({
  sign,
  count,
  words,
  className,
}: {
  sign: React.ReactNode
  count: number
  words: string
  className: string
}) {
  if (count === 0) return null
  return (
    <span title={words} className={`inline-flex items-center gap-0.5 ${className}`}>
      <span aria-hidden="true" className="inline-flex items-center gap-0.5">
        {sign}
        {count.toLocaleString('en')}
      </span>
      <span className="sr-only">{words}</span>
    </span>
  )
}
