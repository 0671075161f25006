'use client'

import type { SkippedPath } from '@turnback/core'
import { skipWords } from '@turnback/core'
import { ChevronDown, CircleSlash } from 'lucide-react'
import { useState } from 'react'
import { formatBytes, plural } from '#lib/format.ts'
import { Button } from '#ui/button.tsx'
import { PathText } from '#ui/path-text.tsx'
import { makeVisible } from '#ui/visible.ts'

const FIRST = 10

/** What this turn did not capture, and why: in sight, never silent. */
export function SkippedPaths({ skipped, count }: { skipped: readonly SkippedPath[]; count: number }) {
  const [isWhole, setIsWhole] = useState(skipped.length <= FIRST)
  if (count === 0) return null
  const shown = isWhole ? skipped : skipped.slice(0, FIRST)
  const beyond = count - skipped.length
  const names = skipped.slice(0, 3).map(({ path }) => path)
  return (
    <details className="group mt-3 rounded-xl border border-line bg-surface px-3.5" open={count <= 1}>
      <summary className="flex min-h-10 items-center gap-2 select-none touch:min-h-11">
        <CircleSlash className="size-4 shrink-0 text-warn" aria-hidden="true" />
        <h2 className="shrink-0 font-medium">{plural(count, 'path')} not captured</h2>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-faint group-open:invisible">
          {makeVisible(names.join(', '))}
          {count > names.length && ' …'}
        </span>
        <ChevronDown className="size-4 shrink-0 text-faint group-open:rotate-180" aria-hidden="true" />
      </summary>
      <div className="pb-3">
        <p className="text-[0.8125rem] text-muted">
          No rewind touches these; nothing is ever deleted for them.
        </p>
        <ul className="mt-2 space-y-1.5">
          {shown.map((item) => (
            <li key={item.path} className="flex flex-col sm:flex-row sm:items-baseline sm:gap-3">
              <PathText path={item.path} />
              <span className="shrink-0 text-xs text-faint">{describe(item)}</span>
            </li>
          ))}
        </ul>
        {!isWhole && (
          <Button size="small" className="mt-2" onClick={() => setIsWhole(true)}>
            Show all {skipped.length.toLocaleString('en')}
          </Button>
        )}
        {isWhole && beyond > 0 && (
          <p className="mt-2 text-xs text-faint">
            {plural(beyond, 'more path', 'more paths')} stand in the signed record: turnback show, on the
            machine.
          </p>
        )}
      </div>
    </details>
  )
}

function describe({ reason, count, sizeBytes }: SkippedPath): string {
  const facts = [
    skipWords[reason],
    ...(count === undefined ? [] : [plural(count, 'file')]),
    ...(sizeBytes === undefined ? [] : [formatBytes(sizeBytes)]),
  ]
  return facts.join(', ')
}
