/** One line of a hunk; numbers count from 1 and are null on the side that does not have the line. */
export interface PatchLine {
  readonly kind: 'keep' | 'add' | 'del'
  readonly before: number | null
  readonly after: number | null
  readonly text: string
  /** The file ends here without a line end. */
  readonly isUnended: boolean
}

export interface PatchHunk {
  readonly header: string
  /** What stands behind the second `@@`: the function or section, when the differ names one. */
  readonly section: string
  readonly lines: readonly PatchLine[]
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/

/**
 * Reads the hunks of one file's part of a unified diff, in git's form. Counted by the hunk headers, so a
 * line of code that looks like a header is code. File headers before the first hunk are passed over; what
 * does not fit the counts is left out rather than guessed at.
 */
export function parsePatch(patch: string): PatchHunk[] {
  const rows = patch.split('\n')
  const hunks: PatchHunk[] = []
  let at = 0
  while (at < rows.length) {
    const found = HUNK.exec(rows[at] ?? '')
    if (found === null) {
      at += 1
      continue
    }
    const read = readHunk(rows, at, found)
    hunks.push(read.hunk)
    at = read.next
  }
  return hunks
}

function readHunk(
  rows: readonly string[],
  start: number,
  found: RegExpExecArray,
): { hunk: PatchHunk; next: number } {
  let before = Number(found[1])
  let after = Number(found[3])
  let beforeLeft = Number(found[2] ?? 1)
  let afterLeft = Number(found[4] ?? 1)
  const lines: PatchLine[] = []
  let at = start + 1
  for (; at < rows.length; at++) {
    const row = rows[at] ?? ''
    const sign = row.charAt(0)
    if (sign === '\\') {
      const last = lines.pop()
      if (last !== undefined) lines.push({ ...last, isUnended: true })
      continue
    }
    if (beforeLeft <= 0 && afterLeft <= 0) break
    const text = row.slice(1)
    if (sign === '+') {
      lines.push({ kind: 'add', before: null, after: after++, text, isUnended: false })
      afterLeft -= 1
    } else if (sign === '-') {
      lines.push({ kind: 'del', before: before++, after: null, text, isUnended: false })
      beforeLeft -= 1
    } else if (sign === ' ' || row === '') {
      // Some tools strip the blank of an empty kept line.
      lines.push({ kind: 'keep', before: before++, after: after++, text, isUnended: false })
      beforeLeft -= 1
      afterLeft -= 1
    } else break
  }
  return { hunk: { header: rows[start] ?? '', section: (found[5] ?? '').trim(), lines }, next: at }
}

/** A part of a changed line, as `[from, to)` of its text. */
export type Span = readonly [from: number, to: number]

/**
 * The part of each of two lines that differs: what is left between their common beginning and end. Null
 * when they have so little in common that marking it would only be noise.
 */
export function changedSpans(before: string, after: string): { before: Span; after: Span } | null {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail += 1
  const blank = before.slice(0, head).trim() === '' && before.slice(before.length - tail).trim() === ''
  if (blank || (head + tail) * 5 < Math.max(before.length, after.length) * 2) return null
  return { before: [head, before.length - tail], after: [head, after.length - tail] }
}

/** A line with the part of it that differs from the line it stands for. */
export interface MarkedLine extends PatchLine {
  readonly mark: Span | null
}

/** Pairs each run of taken lines with the run of put lines after it, first with first; lines too unlike are left plain. */
export function markChanges(lines: readonly PatchLine[]): MarkedLine[] {
  const marked: MarkedLine[] = lines.map((line) => ({ ...line, mark: null }))
  let at = 0
  while (at < marked.length) {
    const dels = runOf(marked, at, 'del')
    const adds = runOf(marked, at + dels, 'add')
    markRun(marked, at, at + dels, Math.min(dels, adds))
    at += Math.max(1, dels + adds)
  }
  return marked
}

function runOf(lines: readonly PatchLine[], from: number, kind: PatchLine['kind']): number {
  let length = 0
  while (lines[from + length]?.kind === kind) length += 1
  return length
}

function markRun(lines: MarkedLine[], delsFrom: number, addsFrom: number, length: number): void {
  for (let i = 0; i < length; i++) {
    const del = lines[delsFrom + i]
    const add = lines[addsFrom + i]
    if (del === undefined || add === undefined) continue
    const spans = changedSpans(del.text, add.text)
    if (spans === null) continue
    lines[delsFrom + i] = { ...del, mark: spans.before }
    lines[addsFrom + i] = { ...add, mark: spans.after }
  }
}
