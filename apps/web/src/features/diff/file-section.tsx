'use client'

import type { TurnId } from '@turnback/core'
import { ChevronDown, ChevronRight, Lock, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '#ui/badge.tsx'
import { IconButton } from '#ui/button.tsx'
import { CopyButton } from '#ui/copy-button.tsx'
import { PathText } from '#ui/path-text.tsx'
import { makeVisible } from '#ui/visible.ts'
import { type ListedEntry, modeChange, shapeOf, sourceWords, statusOf } from './entry-words.ts'
import { FileBody } from './file-body.tsx'
import { StatusSign } from './status-sign.tsx'

interface FileSectionProps {
  readonly turn: TurnId
  readonly entry: ListedEntry
  readonly isTarget: boolean
  /** Rewinds this file alone; absent where that cannot be asked for. */
  readonly onRestore?: ((path: string) => void) | undefined
}

/** One path of a turn with what happened to it. Its id is the path, so an address can point at it. */
export function FileSection({ turn, entry, isTarget, onRestore }: FileSectionProps) {
  const [isOpen, setIsOpen] = useState(true)
  const status = statusOf(entry)
  const shown = makeVisible(entry.path)
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <section
      id={sectionId(entry.path)}
      aria-label={shown}
      data-file-section=""
      className={`scroll-mt-4 rounded-xl border bg-surface ${isTarget ? 'border-accent' : 'border-line'}`}
    >
      <header className="sticky top-0 z-10 flex items-center gap-2 rounded-t-xl border-b border-line bg-surface py-0 pr-1 pl-0.5 sm:py-1 sm:pl-1.5">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${shown}`}
          onClick={() => setIsOpen(!isOpen)}
          className="grid size-7 shrink-0 place-items-center rounded text-faint hover:bg-hover hover:text-text touch:size-11"
        >
          <Chevron className="size-4" />
        </button>
        <StatusSign status={status} />
        <h3 className="min-w-0 flex-1">
          <a
            href={`#${encodeURIComponent(entry.path)}`}
            className="flex items-center rounded-sm hover:underline touch:min-h-11"
          >
            <PathText path={entry.path} isStruck={status === 'deleted'} className="font-medium" />
          </a>
        </h3>
        <FileBadges entry={entry} />
        <span className="hidden sm:contents">
          <CopyButton text={entry.path} label={`Copy path ${shown}`} />
        </span>
        {onRestore !== undefined && entry.before.kind !== 'skipped' && (
          <IconButton
            label={`Rewind only ${shown}`}
            icon={<RotateCcw className="size-4" />}
            onClick={() => onRestore(entry.path)}
          />
        )}
      </header>
      {isOpen ? (
        <FileBody turn={turn} entry={entry} />
      ) : (
        <p className="px-4 py-2 text-xs text-faint">
          Collapsed. {statusOf(entry) === 'deleted' ? 'Deleted file.' : 'There is more to see.'}
        </p>
      )}
    </section>
  )
}

function FileBadges({ entry }: { entry: ListedEntry }) {
  const mode = modeChange(entry)
  const source = sourceWords[entry.source]
  const link = entry.before.kind === 'symlink' || entry.after.kind === 'symlink'
  const dir = entry.before.kind === 'dir' || entry.after.kind === 'dir'
  return (
    <span className="flex shrink-0 items-center gap-1.5">
      {entry.sealed && (
        <Badge icon={<Lock />} title="Its contents left the machine only encrypted.">
          Sealed
        </Badge>
      )}
      {shapeOf(entry) === 'skipped' && <Badge tone="warn">Not captured</Badge>}
      {link && <Badge>Link</Badge>}
      {dir && <Badge>Folder</Badge>}
      {mode !== null && (
        <span className="hidden md:contents">
          <Badge title="Permission bits">
            {mode.from} → {mode.to}
          </Badge>
        </span>
      )}
      <span className="hidden lg:contents">
        <Badge title={source.meaning}>{source.label}</Badge>
      </span>
    </span>
  )
}

export function sectionId(path: string): string {
  return `file-${encodeURIComponent(path)}`
}
