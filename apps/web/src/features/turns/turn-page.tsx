'use client'

import { useQuery } from '@tanstack/react-query'
import type { ProjectId, TurnId } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { ArrowLeft, ChevronLeft, ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type ReactNode, useEffect } from 'react'
import { describeError } from '#lib/errors.ts'
import { formatMoment } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { buttonClass } from '#ui/button.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { makeVisible } from '#ui/visible.ts'
import { SkippedPaths } from './skipped-paths.tsx'
import { KindIcon, TurnBadges } from './turn-badges.tsx'
import { TurnCounts } from './turn-counts.tsx'
import { TurnFacts } from './turn-facts.tsx'
import { TurnPrompt } from './turn-prompt.tsx'
import { turnQuery } from './turn-queries.ts'
import { titleOf } from './turn-words.ts'

interface TurnPageProps {
  readonly project: ProjectId
  readonly turn: TurnId
  readonly files: ReactNode
  /** What can be done with the turn; stays in sight. */
  readonly actions: (turn: TurnSummary) => ReactNode
}

export function TurnPage({ project, turn: id, files, actions }: TurnPageProps) {
  const turn = useQuery(turnQuery(id))
  useNeighbourKeys(project, turn.data?.previousTurn ?? null, turn.data?.nextTurn ?? null)
  if (turn.isError && turn.data === undefined) {
    return (
      <ErrorState
        {...describeError(turn.error)}
        onRetry={() => void turn.refetch()}
        action={
          <Link href={paths.turns(project)} className={buttonClass()}>
            All turns
          </Link>
        }
      />
    )
  }
  if (turn.data === undefined) return <ListSkeleton label="Loading turn" rows={5} />
  const { summary, manifest, skipped, skippedCount } = turn.data
  return (
    <div className="mx-auto w-full max-w-7xl px-3 py-3 sm:px-4 sm:py-5">
      <div className="mb-3 flex items-center justify-between gap-2">
        <Link
          href={paths.turns(project)}
          className="inline-flex min-h-8 items-center gap-1.5 text-[0.8125rem] text-muted hover:text-text touch:min-h-11"
        >
          <ArrowLeft className="size-4" aria-hidden="true" /> All turns
        </Link>
        <Neighbours project={project} previous={turn.data.previousTurn} next={turn.data.nextTurn} />
      </div>
      <TurnHeader summary={summary} />
      <TurnPrompt prompt={manifest.prompt} lastMessage={manifest.lastMessage} title={titleOf(summary)} />
      <TurnFacts
        summary={summary}
        manifest={manifest}
        envelopeSha256={turn.data.envelopeSha256}
        receivedAt={turn.data.receivedAt}
      />
      <SkippedPaths skipped={skipped} count={skippedCount} />
      <div className="mt-5">{files}</div>
      {actions(summary)}
    </div>
  )
}

function TurnHeader({ summary }: { summary: TurnSummary }) {
  return (
    <header className="flex items-start gap-3">
      <KindIcon kind={summary.kind} className="mt-0.5 size-8" />
      <div className="min-w-0 flex-1">
        <h1 className="line-clamp-3 text-lg font-semibold tracking-tight text-pretty [overflow-wrap:anywhere] sm:text-xl">
          {makeVisible(titleOf(summary))}
        </h1>
        <div className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1.5 text-[0.8125rem] text-muted">
          <span className="tabular-nums">#{summary.number}</span>
          <time dateTime={summary.endedAt}>{formatMoment(summary.endedAt)}</time>
          <TurnCounts turn={summary} />
          <span className="flex flex-wrap gap-1.5 empty:hidden">
            <TurnBadges turn={summary} />
          </span>
        </div>
        {summary.restore !== null && (
          <Link
            href={paths.restore(summary.project, summary.restore)}
            className="mt-1.5 inline-flex min-h-6 items-center text-[0.8125rem] text-accent-text hover:underline"
          >
            Report of this rewind
          </Link>
        )}
      </div>
    </header>
  )
}

function Neighbours({
  project,
  previous,
  next,
}: {
  project: ProjectId
  previous: TurnId | null
  next: TurnId | null
}) {
  return (
    <nav aria-label="Turns before and after" className="flex gap-1">
      <Neighbour
        to={previous === null ? null : paths.turn(project, previous)}
        label="Previous turn (Alt+Left)"
      >
        <ChevronLeft className="size-4" aria-hidden="true" />
      </Neighbour>
      <Neighbour to={next === null ? null : paths.turn(project, next)} label="Next turn (Alt+Right)">
        <ChevronRight className="size-4" aria-hidden="true" />
      </Neighbour>
    </nav>
  )
}

function Neighbour({ to, label, children }: { to: string | null; label: string; children: ReactNode }) {
  const look = buttonClass('plain', 'icon')
  if (to === null) {
    return (
      <span className={`${look} opacity-40`} aria-hidden="true">
        {children}
      </span>
    )
  }
  return (
    <Link href={to} prefetch={false} aria-label={label} title={label} className={look}>
      {children}
    </Link>
  )
}

/** Alt with the arrows leads through the turns. */
function useNeighbourKeys(project: ProjectId, previous: TurnId | null, next: TurnId | null): void {
  const router = useRouter()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!event.altKey || event.metaKey || event.ctrlKey) return
      const to = event.key === 'ArrowLeft' ? previous : event.key === 'ArrowRight' ? next : null
      if (to === null) return
      event.preventDefault()
      router.push(paths.turn(project, to))
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [router, project, previous, next])
}
