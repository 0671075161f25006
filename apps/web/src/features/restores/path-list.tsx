'use client'

import { type ReactNode, useId, useState } from 'react'
import { Button } from '#ui/button.tsx'
import { LazyBlock } from '#ui/lazy-block.tsx'
import { PathText } from '#ui/path-text.tsx'

export interface ListedPath {
  readonly path: string
  /** Why, or what for; said below the path. */
  readonly note?: string | undefined
}

interface PathListProps {
  readonly title: string
  readonly icon: ReactNode
  readonly paths: readonly ListedPath[]
  readonly lead?: ReactNode
}

const FIRST = 50
const BLOCK = 100
const ROW_PX = 28

/** A heading with a count and all its paths. Long lists open on demand, and never lose one. */
export function PathList({ title, icon, paths, lead }: PathListProps) {
  const id = useId()
  const [isWhole, setIsWhole] = useState(paths.length <= FIRST)
  if (paths.length === 0) return null
  const shown = isWhole ? paths : paths.slice(0, FIRST)
  const blocks: ListedPath[][] = []
  for (let from = 0; from < shown.length; from += BLOCK) blocks.push(shown.slice(from, from + BLOCK))
  return (
    <section aria-labelledby={id} className="border-t border-line py-3 first:border-t-0 first:pt-0 last:pb-0">
      <h3 id={id} className="flex items-center gap-2 font-medium [&>svg]:size-4 [&>svg]:shrink-0">
        {icon}
        {title}
      </h3>
      {lead !== undefined && <p className="mt-0.5 pl-6 text-[0.8125rem] text-pretty text-muted">{lead}</p>}
      <div className="mt-1 pl-6">
        {blocks.map((block) => (
          <LazyBlock key={block[0]?.path} estimatePx={block.length * ROW_PX} isForced={blocks.length === 1}>
            {() => (
              <ul aria-labelledby={id}>
                {block.map((item) => (
                  <PathRow key={`${item.path} ${item.note ?? ''}`} item={item} />
                ))}
              </ul>
            )}
          </LazyBlock>
        ))}
      </div>
      {!isWhole && (
        <Button size="small" className="mt-1 ml-6" onClick={() => setIsWhole(true)}>
          Show all {paths.length.toLocaleString('en')}
        </Button>
      )}
    </section>
  )
}

function PathRow({ item }: { item: ListedPath }) {
  return (
    <li className="py-0.5">
      <PathText path={item.path} />
      {item.note !== undefined && <p className="text-xs text-faint [overflow-wrap:anywhere]">{item.note}</p>}
    </li>
  )
}
