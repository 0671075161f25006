'use client'

import { useQuery } from '@tanstack/react-query'
import type { TurnId } from '@turnback/core'
import { skipWords } from '@turnback/core'
import type { FileDiff } from '@turnback/core/api'
import { CircleSlash, Download, FileQuestion, Lock } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { formatBytes, plural } from '#lib/format.ts'
import { Button, buttonClass } from '#ui/button.tsx'
import { Note } from '#ui/note.tsx'
import { makeVisible } from '#ui/visible.ts'
import { diffQuery, rawUrl } from './diff-queries.ts'
import { DiffView } from './diff-view.tsx'
import { describeState, type ListedEntry, modeChange, shapeOf } from './entry-words.ts'

/** A diff with more changed lines than this opens on demand. */
const LARGE_LINES = 1500

/** What is to be said of one path: its diff, or why there is none. */
export function FileBody({ turn, entry }: { turn: TurnId; entry: ListedEntry }) {
  switch (shapeOf(entry)) {
    case 'skipped':
      return <SkippedBody entry={entry} />
    case 'sealed':
      return (
        <Plain icon={<Lock />} title="Sealed">
          This path may hold secrets. Its contents left the machine only encrypted, so there is no diff here.
          Rewinding it works as for any other file.
          <States entry={entry} />
        </Plain>
      )
    case 'mode':
      return <ModeBody entry={entry} />
    case 'states':
      return (
        <div className="px-4 py-3">
          <States entry={entry} />
        </div>
      )
    case 'text':
      return <TextBody turn={turn} entry={entry} />
  }
}

function SkippedBody({ entry }: { entry: ListedEntry }) {
  const skipped = entry.after.kind === 'skipped' ? entry.after : entry.before
  const reason = skipped.kind === 'skipped' ? skipWords[skipped.reason] : ''
  return (
    <Plain icon={<CircleSlash />} title={`Not captured: ${reason}`}>
      Its bytes are not known, so a rewind leaves this path as it is.
      <States entry={entry} />
    </Plain>
  )
}

function ModeBody({ entry }: { entry: ListedEntry }) {
  const change = modeChange(entry)
  return (
    <p className="px-4 py-3 text-muted">
      {change === null
        ? 'Only attributes changed.'
        : `Mode ${change.from} → ${change.to}. The contents are the same.`}
    </p>
  )
}

function TextBody({ turn, entry }: { turn: TurnId; entry: ListedEntry }) {
  const diff = useQuery(diffQuery(turn, entry.path))
  if (diff.isError) {
    const { message, remedy } = describeError(diff.error)
    return (
      <div className="p-3">
        <Note
          tone="error"
          title={message}
          action={
            <Button size="small" onClick={() => void diff.refetch()}>
              Try again
            </Button>
          }
        >
          {remedy}
        </Note>
      </div>
    )
  }
  if (diff.data === undefined) {
    return (
      <div role="status" className="space-y-2 p-4">
        <span className="sr-only">Loading diff…</span>
        <div className="skeleton h-3 w-2/3" />
        <div className="skeleton h-3 w-1/2" />
        <div className="skeleton h-3 w-3/5" />
      </div>
    )
  }
  if (diff.data === null) return <Withheld why={null} turn={turn} entry={entry} />
  return <FileDiffBody turn={turn} entry={entry} diff={diff.data} />
}

function FileDiffBody({ turn, entry, diff }: { turn: TurnId; entry: ListedEntry; diff: FileDiff }) {
  const lines = diff.additions + diff.deletions
  const [isOpen, setIsOpen] = useState(lines <= LARGE_LINES)
  if (diff.binary) {
    return (
      <Plain icon={<FileQuestion />} title="Binary file">
        <States entry={entry} />
        <RawLinks turn={turn} entry={entry} />
      </Plain>
    )
  }
  if (diff.withheld !== null || diff.patch === null)
    return <Withheld why={diff.withheld} turn={turn} entry={entry} />
  if (!isOpen) {
    return (
      <Plain icon={<FileQuestion />} title={`Large diff: ${plural(lines, 'changed line')}`}>
        It is not drawn until you ask for it.
        <div className="mt-3 flex flex-wrap gap-2">
          <Button onClick={() => setIsOpen(true)}>Load diff anyway</Button>
        </div>
        <RawLinks turn={turn} entry={entry} />
      </Plain>
    )
  }
  if (!diff.patch.includes('@@')) {
    return (
      <div className="px-4 py-3">
        <States entry={entry} />
      </div>
    )
  }
  return <DiffView patch={diff.patch} path={entry.path} />
}

const withheldWords: Readonly<Record<NonNullable<FileDiff['withheld']>, string>> = {
  sealed: 'Sealed: its contents left the machine only encrypted.',
  skipped: 'Not captured: its bytes are not known.',
  missing: 'Its bytes have not reached the service yet, or are gone by retention.',
  'too-large': 'Too large to compare here.',
  'not-a-file': 'Not a file on both sides.',
}

function Withheld({ why, turn, entry }: { why: FileDiff['withheld']; turn: TurnId; entry: ListedEntry }) {
  const canRead = why === 'too-large' || why === null
  return (
    <Plain icon={<FileQuestion />} title={why === null ? 'There is no diff to show.' : withheldWords[why]}>
      <States entry={entry} />
      {canRead && <RawLinks turn={turn} entry={entry} />}
    </Plain>
  )
}

function RawLinks({ turn, entry }: { turn: TurnId; entry: ListedEntry }) {
  const sides = (['before', 'after'] as const).filter((side) => entry[side].kind === 'file')
  return (
    <div className="mt-3 flex flex-wrap gap-2">
      {sides.map((side) => {
        const state = entry[side]
        const size = state.kind === 'file' ? `, ${formatBytes(state.sizeBytes)}` : ''
        return (
          <a
            key={side}
            href={rawUrl(turn, entry.path, side)}
            className={buttonClass('plain', 'small')}
            download
          >
            <Download className="size-3.5" aria-hidden="true" />
            {side === 'before' ? 'Raw before' : 'Raw after'}
            {size}
          </a>
        )
      })}
    </div>
  )
}

/** Both states in words: for what has no lines to compare. */
function States({ entry }: { entry: ListedEntry }) {
  return (
    <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-xs text-muted">
      <dt>
        <span className="text-del">−</span> before
      </dt>
      <dd className="[overflow-wrap:anywhere]">{makeVisible(describeState(entry.before))}</dd>
      <dt>
        <span className="text-add">+</span> after
      </dt>
      <dd className="[overflow-wrap:anywhere]">{makeVisible(describeState(entry.after))}</dd>
    </dl>
  )
}

function Plain({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <div className="flex gap-3 px-4 py-4 text-muted [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0">
      {icon}
      <div className="min-w-0 flex-1">
        <p className="font-medium text-text">{title}</p>
        {children}
      </div>
    </div>
  )
}
