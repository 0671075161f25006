import { isText } from './binary.ts'
import { diffLines, type LineChange } from './line-diff.ts'
import { type ByteLine, joinLines, splitLines } from './lines.ts'

/**
 * Three-way merge of texts by lines. Changes of both sides that touch or overlap are a conflict, unless they
 * are the same change.
 * @returns the merged bytes, or null when the merge is not clean or any of the three is binary
 */
export function mergeTexts(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): Uint8Array | null {
  if (!isText(base) || !isText(ours) || !isText(theirs)) return null
  const baseLines = splitLines(base)
  const left = new Side(splitLines(ours), baseLines)
  const right = new Side(splitLines(theirs), baseLines)
  const merged: ByteLine[] = []
  let at = 0
  while (!left.isDone || !right.isDone) {
    const start = Math.min(left.nextStart, right.nextStart)
    let end = start
    // Take every change that touches the group, until neither side has one more.
    while (left.takeUntil(end) || right.takeUntil(end)) end = Math.max(left.end, right.end)
    for (; at < start; at++) merged.push(baseLines[at] ?? '')
    const [isLeft, isRight] = [left.hasTaken, right.hasTaken]
    const ourPart = left.give(start, end)
    const theirPart = right.give(start, end)
    if (isLeft && isRight && !isSame(ourPart, theirPart)) return null
    merged.push(...(isLeft ? ourPart : theirPart))
    at = end
  }
  for (; at < baseLines.length; at++) merged.push(baseLines[at] ?? '')
  return joinLines(merged)
}

function isSame(a: readonly ByteLine[], b: readonly ByteLine[]): boolean {
  return a.length === b.length && a.every((line, i) => line === b[i])
}

/** One side's changes against the base, taken from the front. */
class Side {
  readonly #lines: readonly ByteLine[]
  readonly #changes: readonly LineChange[]
  #next = 0
  /** Lines this side has more than the base, before the group at hand. */
  #shift = 0
  #taken: LineChange[] = []
  end = 0

  constructor(lines: readonly ByteLine[], base: readonly ByteLine[]) {
    this.#lines = lines
    this.#changes = diffLines(base, lines)
  }

  get isDone(): boolean {
    return this.#next >= this.#changes.length
  }

  get nextStart(): number {
    return this.#changes[this.#next]?.aStart ?? Number.POSITIVE_INFINITY
  }

  get hasTaken(): boolean {
    return this.#taken.length > 0
  }

  /** Takes the next change if it begins at or before `end` of the base. */
  takeUntil(end: number): boolean {
    const change = this.#changes[this.#next]
    if (change === undefined || change.aStart > end) return false
    this.#taken.push(change)
    this.end = change.aEnd
    this.#next++
    return true
  }

  /** This side's lines for `base[start..end)`, and ready for the next group. */
  give(start: number, end: number): ByteLine[] {
    const from = start + this.#shift
    for (const change of this.#taken)
      this.#shift += change.bEnd - change.bStart - (change.aEnd - change.aStart)
    this.#taken = []
    return this.#lines.slice(from, end + this.#shift)
  }
}
