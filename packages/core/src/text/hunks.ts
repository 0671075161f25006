import type { Digest } from './digest.ts'
import { diffLines, type LineChange } from './line-diff.ts'
import { type ByteLine, bytesOf, joinLines, splitLines } from './lines.ts'
import { mergeTexts } from './merge.ts'

/** Lines of context that a hunk's id is made with. */
export const HUNK_CONTEXT = 3
const NO_NEWLINE = '\\ No newline at end of file\n'

/** A part of a unified diff. Texts are byte strings: each character stands for one byte. */
export interface Hunk {
  /** `@@ -1,3 +1,4 @@`, without a line feed. */
  readonly header: string
  /** The header's line and all others, as they stand in the patch. */
  readonly text: ByteLine
  readonly additions: number
  readonly deletions: number
  /** The replaced blocks that it holds. */
  readonly changes: readonly LineChange[]
}

/** The hunks between two texts, with `context` unchanged lines around each change. */
export function diffHunks(before: Uint8Array, after: Uint8Array, context: number = HUNK_CONTEXT): Hunk[] {
  const a = splitLines(before)
  const b = splitLines(after)
  const groups: LineChange[][] = []
  for (const change of diffLines(a, b)) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group !== undefined && last !== undefined && change.aStart - last.aEnd <= 2 * context)
      group.push(change)
    else groups.push([change])
  }
  return groups.map((changes) => makeHunk(a, b, changes, context))
}

/** A hunk's id: the first 8 hex digits of SHA-256 of its text. Only ids with 3 lines of context are ever named. */
export function hunkId(hunk: Hunk, sha256: Digest): string {
  return sha256(bytesOf(hunk.text)).slice(0, 8)
}

/**
 * Takes some hunks of one change back in a text that may have changed since.
 * @param present the text as it is now
 * @param ids of hunks of `before` → `after` with 3 lines of context
 * @returns the new text, or null when an id is unknown or its place in the present text was changed
 */
export function revertHunks(
  present: Uint8Array,
  before: Uint8Array,
  after: Uint8Array,
  ids: readonly string[],
  sha256: Digest,
): Uint8Array | null {
  const hunks = diffHunks(before, after)
  const named = new Map(hunks.map((hunk) => [hunkId(hunk, sha256), hunk]))
  const chosen = new Set<Hunk>()
  for (const id of ids) {
    const hunk = named.get(id)
    if (hunk === undefined) return null
    chosen.add(hunk)
  }
  const old = splitLines(before)
  const lines = splitLines(after)
  const changes = hunks.filter((hunk) => chosen.has(hunk)).flatMap((hunk) => hunk.changes)
  for (const change of changes.toReversed()) {
    lines.splice(change.bStart, change.bEnd - change.bStart, ...old.slice(change.aStart, change.aEnd))
  }
  return mergeTexts(after, present, joinLines(lines))
}

function makeHunk(
  a: readonly ByteLine[],
  b: readonly ByteLine[],
  changes: readonly LineChange[],
  context: number,
): Hunk {
  const first = changes[0] ?? { aStart: 0, aEnd: 0, bStart: 0, bEnd: 0 }
  const last = changes.at(-1) ?? first
  const lead = Math.min(context, first.aStart)
  const aStart = first.aStart - lead
  const bStart = first.bStart - lead
  const aEnd = Math.min(a.length, last.aEnd + context)
  const bEnd = last.bEnd + (aEnd - last.aEnd)
  const header = `@@ -${span(aStart, aEnd)} +${span(bStart, bEnd)} @@`
  const out = [`${header}\n`]
  let additions = 0
  let deletions = 0
  let at = aStart
  for (const change of changes) {
    for (; at < change.aStart; at++) out.push(mark(' ', a[at] ?? ''))
    for (; at < change.aEnd; at++) out.push(mark('-', a[at] ?? ''))
    for (let j = change.bStart; j < change.bEnd; j++) out.push(mark('+', b[j] ?? ''))
    additions += change.bEnd - change.bStart
    deletions += change.aEnd - change.aStart
  }
  for (; at < aEnd; at++) out.push(mark(' ', a[at] ?? ''))
  return { header, text: out.join(''), additions, deletions, changes }
}

function mark(sign: ' ' | '-' | '+', line: ByteLine): ByteLine {
  return line.endsWith('\n') ? sign + line : `${sign}${line}\n${NO_NEWLINE}`
}

/** Lines are counted from 1; an empty side names the line before it, and one line needs no count. */
function span(start: number, end: number): string {
  const count = end - start
  if (count === 0) return `${start},0`
  return count === 1 ? `${start + 1}` : `${start + 1},${count}`
}
