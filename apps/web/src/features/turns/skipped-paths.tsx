'use client'

import type { SkippedPath } from '@turnback/core'
import { CircleSlash } from 'lucide-react'
import { useState } from 'react'
import { formatBytes, plural } from '#lib/format.ts'
import { skipWords } from '#lib/skip-words.ts'
import { Button } from '#ui/button.tsx'
import { PathText } from '#ui/path-text.tsx'

const FIRST = 10

/** What this turn did not capture, and why: in sight, never silent. */
export function SkippedPaths({ skipped, count }: { skipped: readonly SkippedPath[]; count: number }) {
  const [isWhole, setIsWhole] = useState(skipped.length <= FIRST)
  if (count === 0) return null
  const shown = isWhole ? skipped : skipped.slice(0, FIRST)
  const beyond = count - skipped.length
  return (
    <section
      className="mt-3 rounded-xl border border-line bg-surface px-3.5 py-3"
      aria-labelledby="skipped-heading"
    >
      <h2 id="skipped-heading" className="flex items-center gap-2 font-medium">
        <CircleSlash className="size-4 text-warn" aria-hidden="true" />
        {plural(count, 'path')} not captured
      </h2>
      <p className="mt-0.5 text-[0.8125rem] text-muted">
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
    </section>
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
