'use client'

import { useMemo } from 'react'
import { LazyBlock } from '#ui/lazy-block.tsx'
import { makeVisible } from '#ui/visible.ts'
import { type MarkedLine, markChanges, type PatchHunk, parsePatch } from './parse-patch.ts'

const LINE_PX = 20
/** Lines that are drawn together; far from the window only their height is kept. */
const BLOCK_LINES = 100

interface Block {
  readonly key: string
  readonly hunk: PatchHunk | null
  readonly lines: readonly MarkedLine[]
}

/** The lines of a unified diff: wrapped, numbered, of any length. */
export function DiffView({ patch, path }: { patch: string; path: string }) {
  const blocks = useMemo(() => toBlocks(parsePatch(patch)), [patch])
  const digits = useMemo(() => widestNumber(blocks), [blocks])
  return (
    <section
      aria-label={`Diff of ${makeVisible(path)}`}
      className={`overflow-hidden py-px ${gutterClass(digits)}`}
    >
      {blocks.map((block) => (
        <LazyBlock
          key={block.key}
          estimatePx={block.lines.length * LINE_PX + (block.hunk === null ? 0 : 28)}
          isForced={blocks.length === 1}
        >
          {() => <BlockLines block={block} digits={digits} />}
        </LazyBlock>
      ))}
    </section>
  )
}

function BlockLines({ block, digits }: { block: Block; digits: number }) {
  return (
    <>
      {block.hunk !== null && (
        <p className="truncate border-y border-line bg-sunken px-3 py-1 font-mono text-xs text-faint first:border-t-0">
          {makeVisible(block.hunk.header)}
        </p>
      )}
      {block.lines.map((line) => (
        <DiffLine key={`${line.before}:${line.after}`} line={line} digits={digits} />
      ))}
    </>
  )
}

const signs = { keep: '', add: '+', del: '−' } as const

function DiffLine({ line, digits }: { line: MarkedLine; digits: number }) {
  const numbers = `${numberText(line.before, digits)} ${numberText(line.after, digits)}`
  // Inserted and deleted text is named so to screen readers; signs and colours are for the eye.
  const Code = line.kind === 'add' ? 'ins' : line.kind === 'del' ? 'del' : 'span'
  return (
    <div className="diff-line" data-kind={line.kind} data-before={numbers}>
      <Code className="diff-code" data-sign={signs[line.kind]}>
        <LineText line={line} />
        {line.isUnended && <span className="pl-2 text-faint select-none">no line end</span>}
        {'\n'}
      </Code>
    </div>
  )
}

function LineText({ line }: { line: MarkedLine }) {
  const text = line.text.endsWith('\r') ? `${line.text.slice(0, -1)}␍` : line.text
  if (line.mark === null) return makeVisible(text)
  const [from, to] = line.mark
  return (
    <>
      {makeVisible(text.slice(0, from))}
      {to > from && <mark>{makeVisible(text.slice(from, to))}</mark>}
      {makeVisible(text.slice(to))}
    </>
  )
}

function numberText(value: number | null, digits: number): string {
  return (value === null ? '' : String(value)).padStart(digits)
}

function toBlocks(hunks: readonly PatchHunk[]): Block[] {
  return hunks.flatMap((hunk, place) => {
    const lines = markChanges(hunk.lines)
    const blocks: Block[] = []
    for (let from = 0; from < lines.length || from === 0; from += BLOCK_LINES) {
      blocks.push({
        key: `${place}:${from}`,
        hunk: from === 0 ? hunk : null,
        lines: lines.slice(from, from + BLOCK_LINES),
      })
    }
    return blocks
  })
}

function widestNumber(blocks: readonly Block[]): number {
  const last = blocks.at(-1)?.lines.at(-1)
  const largest = Math.max(last?.before ?? 0, last?.after ?? 0, 10)
  return String(largest).length
}

/** A fixed set of widths: a style of its own per diff would need inline styles. */
function gutterClass(digits: number): string {
  if (digits <= 2) return '[--gutter:3.25rem]'
  if (digits === 3) return '[--gutter:4.25rem]'
  if (digits === 4) return '[--gutter:5.25rem]'
  return '[--gutter:7.25rem]'
}
