import type { TurnKind } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { Bot, Eye, Flag, ListChecks, Undo2, Unplug } from 'lucide-react'
import { Badge } from '#ui/badge.tsx'
import { endWords, kindWords } from './turn-words.ts'

const kindIcons = { agent: Bot, task: ListChecks, checkpoint: Flag, restore: Undo2, outside: Eye } as const
const kindTones: Readonly<Record<TurnKind, string>> = {
  agent: 'bg-accent-soft text-accent-text',
  task: 'bg-accent-soft text-accent-text',
  checkpoint: 'bg-info-bg text-info',
  restore: 'bg-warn-bg text-warn',
  outside: 'bg-hover text-muted',
}

/** The kind by shape first, colour second. */
export function KindIcon({ kind, className = 'size-7' }: { kind: TurnKind; className?: string }) {
  const Icon = kindIcons[kind]
  return (
    <span
      role="img"
      aria-label={kindWords[kind]}
      title={kindWords[kind]}
      className={`grid shrink-0 place-items-center rounded-full ${className} ${kindTones[kind]}`}
    >
      <Icon className="size-[55%]" aria-hidden="true" />
    </span>
  )
}

/** What is special about a turn: nothing for one that simply completed. */
export function TurnBadges({ turn, hasKind = true }: { turn: TurnSummary; hasKind?: boolean }) {
  const end = turn.endReason === null || turn.endReason === 'completed' ? null : endWords[turn.endReason]
  return (
    <>
      {hasKind && turn.kind !== 'agent' && (
        <Badge tone={turn.kind === 'restore' ? 'warn' : turn.kind === 'checkpoint' ? 'info' : 'plain'}>
          {kindWords[turn.kind]}
        </Badge>
      )}
      {turn.undone === 'yes' && (
        <Badge tone="warn" icon={<Undo2 />} title="A later rewind took this turn back.">
          Undone
        </Badge>
      )}
      {turn.undone === 'partly' && (
        <Badge tone="warn" icon={<Undo2 />} title="A later rewind took part of this turn back.">
          Partly undone
        </Badge>
      )}
      {end !== null && (
        <Badge tone={turn.endReason === 'failed' ? 'del' : 'plain'} icon={<Unplug />} title={end.meaning}>
          {end.label}
        </Badge>
      )}
    </>
  )
}
