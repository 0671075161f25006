/** Part of two texts: `a[aLo..aHi)` against `b[bLo..bHi)`. */
export interface Range {
  readonly aLo: number
  readonly aHi: number
  readonly bLo: number
  readonly bHi: number
}

/** What is left of the work that a whole comparison may do. */
export interface Work {
  stepsLeft: number
}

/** No search goes on past this many differing lines: its memory grows with the square. */
const MAX_DIFFERENCES = 1500

/**
 * Finds lines that two ranges have in common by Myers' greedy search and notes them in `match` (index in `a` →
 * index in `b`). Lines that the other side does not have at all are left out first: they are changes for sure.
 * When the bound is reached nothing is noted.
 */
export function matchBySearch(
  a: Int32Array,
  b: Int32Array,
  range: Range,
  match: Int32Array,
  work: Work,
): void {
  const left = keepCommon(a, range.aLo, range.aHi, b, range.bLo, range.bHi)
  const right = keepCommon(b, range.bLo, range.bHi, a, range.aLo, range.aHi)
  if (left.length === 0 || right.length === 0) return
  const pairs = search(
    left.map((i) => a[i] ?? -1),
    right.map((j) => b[j] ?? -2),
    work,
  )
  for (const [i, j] of pairs) match[left[i] ?? 0] = right[j] ?? 0
}

function keepCommon(
  own: Int32Array,
  lo: number,
  hi: number,
  other: Int32Array,
  otherLo: number,
  otherHi: number,
): number[] {
  const there = new Set<number>()
  for (let i = otherLo; i < otherHi; i++) there.add(other[i] ?? -1)
  const kept: number[] = []
  for (let i = lo; i < hi; i++) if (there.has(own[i] ?? -1)) kept.push(i)
  return kept
}

/** Pairs of indexes of a longest common subsequence, or none when the work would be too much. */
function search(a: readonly number[], b: readonly number[], work: Work): [number, number][] {
  const limit = Math.min(MAX_DIFFERENCES, a.length + b.length)
  // furthest[k + d]: how far in `a` a path with d differences comes on diagonal k
  const rounds: Int32Array[] = []
  let last = new Int32Array([0])
  for (let d = 0; d <= limit; d++) {
    const furthest = new Int32Array(2 * d + 1)
    work.stepsLeft -= d + 1
    if (work.stepsLeft < 0) return []
    for (let k = -d; k <= d; k += 2) {
      let x = d === 0 ? 0 : startOf(last, k, d)
      let y = x - k
      const from = x
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++
        y++
      }
      work.stepsLeft -= x - from
      furthest[k + d] = x
      if (x >= a.length && y >= b.length) {
        rounds.push(furthest)
        return walkBack(rounds, a.length, b.length)
      }
    }
    rounds.push(furthest)
    last = furthest
  }
  return []
}

/** How far in `a` one gets on diagonal k with one more difference, before equal lines are followed. */
function startOf(last: Int32Array, k: number, d: number): number {
  const previous = previousDiagonal(last, k, d)
  const x = last[previous + d - 1] ?? 0
  return previous < k ? x + 1 : x
}

/** Whether diagonal k is best reached by a line of `b` (from k + 1) or by one of `a` (from k - 1). */
function previousDiagonal(last: Int32Array, k: number, d: number): number {
  const below = last[k - 1 + d - 1] ?? -1
  const above = last[k + 1 + d - 1] ?? -1
  return k === -d || (k !== d && below < above) ? k + 1 : k - 1
}

function walkBack(rounds: readonly Int32Array[], aLength: number, bLength: number): [number, number][] {
  const pairs: [number, number][] = []
  let x = aLength
  let y = bLength
  for (let d = rounds.length - 1; d > 0; d--) {
    const last = rounds[d - 1] ?? new Int32Array(0)
    const k = x - y
    const startX = startOf(last, k, d)
    while (x > startX) pairs.push([--x, --y])
    const previous = previousDiagonal(last, k, d)
    x = last[previous + d - 1] ?? 0
    y = x - previous
  }
  while (x > 0) pairs.push([--x, --y])
  return pairs.reverse()
}
