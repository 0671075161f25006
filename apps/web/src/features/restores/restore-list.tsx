'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import type { ProjectId } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { Undo2 } from 'lucide-react'
import Link from 'next/link'
import { describeError } from '#lib/errors.ts'
import { formatAgo, formatMoment, shortId } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { Badge } from '#ui/badge.tsx'
import { EmptyState } from '#ui/empty-state.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { MoreAtEnd } from '#ui/more-at-end.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { makeVisible } from '#ui/visible.ts'
import { restoresQuery } from './restore-queries.ts'
import { stateWords, summaryOf } from './restore-words.ts'

export function RestoreList({ project }: { project: ProjectId }) {
  const restores = useInfiniteQuery(restoresQuery(project))
  if (restores.isError && restores.data === undefined) {
    return <ErrorState {...describeError(restores.error)} onRetry={() => void restores.refetch()} />
  }
  if (restores.data === undefined) return <ListSkeleton label="Loading rewinds" />
  const items = restores.data.pages.flatMap((page) => page.items)
  if (items.length === 0) {
    return (
      <EmptyState icon={<Undo2 />} level={1} title="No rewind yet">
        Each rewind, from here or from a terminal, is listed with its report and can be undone.
      </EmptyState>
    )
  }
  return (
    <div className="mx-auto w-full max-w-5xl px-3 py-4 sm:px-4 sm:py-6">
      <h1 className="mb-3 px-1 text-xl font-semibold tracking-tight">Restores</h1>
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
        {items.map((restore) => (
          <RestoreRow key={restore.id} restore={restore} />
        ))}
      </ul>
      <MoreAtEnd
        hasMore={restores.hasNextPage}
        isLoading={restores.isFetchingNextPage}
        onMore={restores.fetchNextPage}
      />
    </div>
  )
}

function RestoreRow({ restore }: { restore: Restore }) {
  const { label, tone } = stateWords[restore.status]
  const summary = summaryOf(restore)
  return (
    <li>
      <Link
        href={paths.restore(restore.project, restore.id)}
        prefetch={false}
        className="flex min-h-16 items-start gap-3 px-3 py-3 -outline-offset-2 hover:bg-hover sm:px-4"
      >
        <span className="grid size-7 shrink-0 place-items-center rounded-full bg-warn-bg text-warn">
          <Undo2 className="size-4" aria-hidden="true" />
        </span>
        <span className="min-w-0 flex-1">
          <span className="flex items-start gap-2">
            <span className="min-w-0 flex-1 font-medium [overflow-wrap:anywhere]">
              {summary === '' ? 'Rewind' : `Rewind: ${summary}`}
            </span>
            <Badge tone={tone}>{label}</Badge>
          </span>
          <span className="mt-1 block text-xs text-faint [overflow-wrap:anywhere]">
            {makeVisible(restore.requestedBy.name)} on {makeVisible(restore.machineName)} · to before{' '}
            <span className="font-mono">{shortId(restore.turn)}</span> ·{' '}
            <time dateTime={restore.createdAt} title={formatMoment(restore.createdAt)}>
              {formatAgo(restore.createdAt, new Date())}
            </time>
          </span>
        </span>
      </Link>
    </li>
  )
}
