'use client'

import { useVirtualizer } from '@tanstack/react-virtual'
import { Lock } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { plural } from '#lib/format.ts'
import { controlClass } from '#ui/field.tsx'
import { PathText } from '#ui/path-text.tsx'
import { makeVisible } from '#ui/visible.ts'
import { type ListedEntry, statusOf } from './entry-words.ts'
import { StatusSign } from './status-sign.tsx'

interface FileNavProps {
  readonly entries: readonly ListedEntry[]
  readonly current: string | null
  readonly isComplete: boolean
  readonly onChoose: (path: string) => void
  /** Rows are higher where fingers choose. */
  readonly rowPx?: number
}

/** All paths of a turn. Never cut: however many there are, those in sight are drawn. */
export function FileNav({ entries, current, isComplete, onChoose, rowPx = 32 }: FileNavProps) {
  const [filter, setFilter] = useState('')
  const scrollRef = useRef<HTMLDivElement>(null)
  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase()
    return wanted === '' ? entries : entries.filter((entry) => entry.path.toLowerCase().includes(wanted))
  }, [entries, filter])
  const rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scrollRef.current,
    estimateSize: () => rowPx,
    overscan: 12,
  })
  return (
    <nav aria-label="Files of this turn" className="flex min-h-0 flex-1 flex-col">
      {entries.length > 8 && (
        <div className="p-1 pb-2">
          <input
            type="search"
            aria-label="Filter files"
            placeholder="Filter files"
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            className={controlClass}
          />
        </div>
      )}
      <div ref={scrollRef} className="min-h-0 flex-1 overflow-y-auto overscroll-contain">
        <ul className="relative w-full" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const entry = shown[row.index]
            if (entry === undefined) return null
            return (
              <li
                key={entry.path}
                aria-setsize={shown.length}
                aria-posinset={row.index + 1}
                className="absolute inset-x-0 top-0"
                style={{ height: rowPx, transform: `translateY(${row.start}px)` }}
              >
                <a
                  href={`#${encodeURIComponent(entry.path)}`}
                  aria-current={entry.path === current ? 'location' : undefined}
                  onClick={() => onChoose(entry.path)}
                  className="flex h-full items-center gap-2 rounded-md px-2 -outline-offset-2 hover:bg-hover aria-[current]:bg-hover"
                >
                  <StatusSign status={statusOf(entry)} />
                  <PathText
                    path={entry.path}
                    isStruck={statusOf(entry) === 'deleted'}
                    className="flex-1 text-xs"
                  />
                  {entry.sealed && <Lock aria-label="sealed" className="size-3 shrink-0 text-faint" />}
                </a>
              </li>
            )
          })}
        </ul>
        {shown.length === 0 && <p className="p-2 text-faint">No path has “{makeVisible(filter)}” in it.</p>}
      </div>
      {!isComplete && (
        <p role="status" className="p-2 text-xs text-faint">
          {plural(entries.length, 'file')} so far, reading on…
        </p>
      )}
    </nav>
  )
}
