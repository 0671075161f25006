'use client'

import { useInfiniteQuery } from '@tanstack/react-query'
import type { TurnId } from '@turnback/core'
import { FileCheck2, Files } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { plural } from '#lib/format.ts'
import { pathInFragment } from '#lib/paths.ts'
import { Button } from '#ui/button.tsx'
import { EmptyState } from '#ui/empty-state.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { LazyBlock } from '#ui/lazy-block.tsx'
import { Sheet } from '#ui/sheet.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { entriesQuery } from './diff-queries.ts'
import { type ListedEntry, shapeOf } from './entry-words.ts'
import { FileNav } from './file-nav.tsx'
import { FileSection, sectionId } from './file-section.tsx'
import { holdInView } from './hold-in-view.ts'
import { useFileKeys } from './use-file-keys.ts'

/** Sections that are drawn together. */
const BLOCK_FILES = 10

interface TurnFilesProps {
  readonly turn: TurnId
  readonly onRestore?: ((path: string) => void) | undefined
}

/** All files of a turn: their list, and their changes one below the other. */
export function TurnFiles({ turn, onRestore }: TurnFilesProps) {
  const query = useInfiniteQuery(entriesQuery(turn))
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = query
  useEffect(() => {
    // The list of files is never cut, so the pages are read one after the other without being asked for.
    if (hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, isError, fetchNextPage])
  const pages = query.data?.pages
  const entries = useMemo(() => pages?.flatMap((page) => page.items) ?? [], [pages])
  const { current, choose } = useCurrentFile(entries)
  useFileKeys()

  if (isError && query.data === undefined) {
    return <ErrorState {...describeError(query.error)} onRetry={() => void query.refetch()} />
  }
  if (query.data === undefined) return <ListSkeleton label="Loading files" rows={4} />
  if (entries.length === 0) {
    return (
      <EmptyState icon={<FileCheck2 />} title="No file was changed">
        Everything is as it was before this turn.
      </EmptyState>
    )
  }
  const isComplete = !hasNextPage
  return (
    <div className="lg:grid lg:grid-cols-[17rem_minmax(0,1fr)] lg:gap-5">
      <aside className="sticky top-4 hidden h-[calc(100dvh-2rem)] flex-col lg:flex">
        <h2 className="px-2 pb-2 text-xs font-medium text-muted">{countText(entries.length, isComplete)}</h2>
        <FileNav entries={entries} current={current} isComplete={isComplete} onChoose={choose} />
      </aside>
      <div className="min-w-0">
        <FileSheet entries={entries} current={current} isComplete={isComplete} onChoose={choose} />
        <FileBlocks turn={turn} entries={entries} current={current} onRestore={onRestore} />
        {isError && (
          <div className="mt-4 text-center">
            <p className="mb-2 text-muted">The rest of the files could not be read.</p>
            <Button onClick={() => void fetchNextPage()}>Try again</Button>
          </div>
        )}
      </div>
    </div>
  )
}

interface FileBlocksProps extends TurnFilesProps {
  readonly entries: readonly ListedEntry[]
  readonly current: string | null
}

function FileBlocks({ turn, entries, current, onRestore }: FileBlocksProps) {
  const blocks = useMemo(() => {
    const list: ListedEntry[][] = []
    for (let from = 0; from < entries.length; from += BLOCK_FILES)
      list.push(entries.slice(from, from + BLOCK_FILES))
    return list
  }, [entries])
  return blocks.map((block) => (
    <LazyBlock
      key={block[0]?.path}
      estimatePx={block.reduce((sum, entry) => sum + estimateOf(entry), 0)}
      isForced={block.some((entry) => entry.path === current)}
    >
      {() =>
        block.map((entry) => (
          <div key={entry.path} className="pb-3 sm:pb-4">
            <FileSection turn={turn} entry={entry} isTarget={entry.path === current} onRestore={onRestore} />
          </div>
        ))
      }
    </LazyBlock>
  ))
}

function estimateOf(entry: ListedEntry): number {
  return shapeOf(entry) === 'text' ? 320 : 140
}

/** On a phone the list of files comes up from below. */
function FileSheet(props: {
  entries: readonly ListedEntry[]
  current: string | null
  isComplete: boolean
  onChoose: (path: string) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const { onChoose } = props
  const text = countText(props.entries.length, props.isComplete)
  return (
    <div className="mb-3 lg:hidden">
      <Button className="w-full" icon={<Files className="size-4" />} onClick={() => setIsOpen(true)}>
        {text}
      </Button>
      <Sheet isOpen={isOpen} onOpenChange={setIsOpen} title={text}>
        <div className="-mx-2 flex h-[60dvh] flex-col">
          <FileNav
            {...props}
            rowPx={44}
            onChoose={(path) => {
              setIsOpen(false)
              onChoose(path)
            }}
          />
        </div>
      </Sheet>
    </div>
  )
}

function countText(count: number, isComplete: boolean): string {
  return isComplete ? plural(count, 'file') : `${plural(count, 'file')} so far`
}

/** The file that the address points at. It is scrolled to as soon as it is in the list. */
function useCurrentFile(entries: readonly ListedEntry[]): {
  current: string | null
  choose: (path: string) => void
} {
  const [current, setCurrent] = useState<string | null>(null)
  const [request, setRequest] = useState(0)
  useEffect(() => {
    const read = () => {
      setCurrent(pathInFragment(window.location.hash))
      setRequest((count) => count + 1)
    }
    read()
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [])
  const isListed = current !== null && entries.some((entry) => entry.path === current)
  // Each request scrolls again, also to the same file.
  useEffect(() => {
    if (!isListed || current === null) return
    let end: (() => void) | null = null
    const frame = requestAnimationFrame(() => {
      const section = document.getElementById(sectionId(current))
      if (section !== null) end = holdInView(section)
    })
    return () => {
      cancelAnimationFrame(frame)
      end?.()
    }
  }, [isListed, current, request])
  const choose = useCallback((path: string) => {
    setCurrent(path)
    setRequest((count) => count + 1)
  }, [])
  return { current, choose }
}
