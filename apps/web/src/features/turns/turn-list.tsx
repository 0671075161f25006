'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import type { ProjectId } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { SearchX } from 'lucide-react'
import { usePathname, useRouter, useSearchParams } from 'next/navigation'
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { formatDay } from '#lib/format.ts'
import { Button } from '#ui/button.tsx'
import { EmptyState } from '#ui/empty-state.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { MoreAtEnd } from '#ui/more-at-end.tsx'
import { Note } from '#ui/note.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { groupByDay } from './group-by-day.ts'
import { TurnFilterBar } from './turn-filter-bar.tsx'
import { countFilters, type FilterName, parseTurnFilters, withFilter } from './turn-filters.ts'
import { turnsQuery } from './turn-queries.ts'
import { TurnRow } from './turn-row.tsx'
import { useListKeys } from './use-list-keys.ts'

/** The turns of a project, newest first, by day; more are read when the end comes near. */
export function TurnList({ project, empty }: { project: ProjectId; empty: ReactNode }) {
  const search = useSearchParams()
  const filters = useMemo(() => parseTurnFilters(new URLSearchParams(search)), [search])
  const turns = useInfiniteQuery(turnsQuery(project, filters))
  const pages = turns.data?.pages
  const items = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages])
  const searchRef = useRef<HTMLInputElement>(null)
  const listRef = useRef<HTMLDivElement>(null)
  const change = useFilterChange()
  useListKeys(listRef, searchRef)

  if (turns.isError && turns.data === undefined) {
    return <ErrorState {...describeError(turns.error)} onRetry={() => void turns.refetch()} />
  }
  const isFiltered = countFilters(filters) > 0
  if (turns.data !== undefined && items.length === 0 && !isFiltered) return empty
  return (
    <div className="mx-auto w-full max-w-5xl px-3 py-4 sm:px-4 sm:py-6">
      <h1 className="sr-only">Turns</h1>
      <TurnFilterBar
        filters={filters}
        shown={items}
        searchRef={searchRef}
        onChange={change.set}
        onClear={change.clear}
      />
      {turns.isError && (
        <div className="mt-3">
          <Note tone="warn" title="This list may be old.">
            {describeError(turns.error).message} {describeError(turns.error).remedy}
          </Note>
        </div>
      )}
      {turns.data === undefined && <ListSkeleton label="Loading turns" />}
      {turns.data !== undefined && items.length === 0 && (
        <EmptyState
          icon={<SearchX />}
          title="No turn fits these filters"
          action={<Button onClick={change.clear}>Clear filters</Button>}
        />
      )}
      <div ref={listRef}>
        <TurnDays key={JSON.stringify(filters)} turns={items} />
      </div>
      {turns.data !== undefined && (
        <MoreAtEnd
          hasMore={turns.hasNextPage}
          isLoading={turns.isFetchingNextPage}
          onMore={turns.fetchNextPage}
        />
      )}
    </div>
  )
}

function TurnDays({ turns }: { turns: readonly TurnSummary[] }) {
  const newcomers = useNewcomers(turns)
  const now = new Date()
  return groupByDay(turns).map((group) => (
    <section key={group.key} className="mt-5" aria-label={formatDay(group.at, now)}>
      <h2 className="mb-2 px-1 text-xs font-medium text-muted">{formatDay(group.at, now)}</h2>
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
        {group.turns.map((turn) => (
          <TurnRow key={turn.turn} turn={turn} isNew={newcomers.has(turn.turn)} />
        ))}
      </ul>
    </section>
  ))
}

/** Turns that were not there when the list was first shown and are newer than all that were. */
function useNewcomers(turns: readonly TurnSummary[]): ReadonlySet<string> {
  const [first] = useState(() => turns[0]?.turn ?? null)
  return useMemo(() => {
    if (first === null) return new Set()
    const at = turns.findIndex((turn) => turn.turn === first)
    return new Set(at < 0 ? [] : turns.slice(0, at).map((turn) => turn.turn))
  }, [turns, first])
}

function useFilterChange(): { set: (name: FilterName, value: string) => void; clear: () => void } {
  const router = useRouter()
  const pathname = usePathname()
  const set = useCallback(
    (name: FilterName, value: string) => {
      const next = withFilter(new URLSearchParams(window.location.search), name, value)
      router.replace(next === '' ? pathname : `${pathname}?${next}`, { scroll: false })
    },
    [router, pathname],
  )
  const clear = useCallback(() => router.replace(pathname, { scroll: false }), [router, pathname])
  return { set, clear }
}
