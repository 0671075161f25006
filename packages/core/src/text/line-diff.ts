import type { ByteLine } from './lines.ts'
import { longestRising } from './longest-rising.ts'
import { matchBySearch, type Range, type Work } from './search.ts'

/** A block of lines that was replaced: `a[aStart..aEnd)` became `b[bStart..bEnd)`. One side may be empty. */
export interface LineChange {
  readonly aStart: number
  readonly aEnd: number
  readonly bStart: number
  readonly bEnd: number
}

/** Steps that one comparison may take in searches; past it, blocks count as replaced whole. */
const WORK_STEPS = 6_000_000
const MAX_DEPTH = 64

/**
 * Compares two texts line by line: first by the lines that occur once in both (so that moved and rewritten
 * files come out as people see them), then between those by Myers' search with a bounded amount of work. What
 * the bound cuts off is given as one replaced block: right, only longer than it need be.
 */
export function diffLines(a: readonly ByteLine[], b: readonly ByteLine[]): LineChange[] {
  const [left, right] = numberLines(a, b)
  const match = new Int32Array(left.length).fill(-1)
  const work: Work = { stepsLeft: WORK_STEPS }
  matchRange(left, right, { aLo: 0, aHi: left.length, bLo: 0, bHi: right.length }, match, work, 0)
  return changesBetween(match, left.length, right.length)
}

/** Equal lines get equal numbers. */
function numberLines(a: readonly ByteLine[], b: readonly ByteLine[]): [Int32Array, Int32Array] {
  const numbers = new Map<ByteLine, number>()
  const numberOf = (line: ByteLine): number => {
    const known = numbers.get(line)
    if (known !== undefined) return known
    numbers.set(line, numbers.size)
    return numbers.size - 1
  }
  return [Int32Array.from(a, numberOf), Int32Array.from(b, numberOf)]
}

function matchRange(
  a: Int32Array,
  b: Int32Array,
  range: Range,
  match: Int32Array,
  work: Work,
  depth: number,
): void {
  let { aLo, aHi, bLo, bHi } = range
  while (aLo < aHi && bLo < bHi && a[aLo] === b[bLo]) match[aLo++] = bLo++
  while (aLo < aHi && bLo < bHi && a[aHi - 1] === b[bHi - 1]) match[--aHi] = --bHi
  if (aLo === aHi || bLo === bHi) return
  const inner = { aLo, aHi, bLo, bHi }
  const anchors = depth < MAX_DEPTH ? findAnchors(a, b, inner) : []
  if (anchors.length === 0) {
    matchBySearch(a, b, inner, match, work)
    return
  }
  let fromA = aLo
  let fromB = bLo
  for (const [i, j] of anchors) {
    matchRange(a, b, { aLo: fromA, aHi: i, bLo: fromB, bHi: j }, match, work, depth + 1)
    match[i] = j
    fromA = i + 1
    fromB = j + 1
  }
  matchRange(a, b, { aLo: fromA, aHi, bLo: fromB, bHi }, match, work, depth + 1)
}

/** Lines that occur once on each side, as the longest list of pairs that rises on both. */
function findAnchors(a: Int32Array, b: Int32Array, { aLo, aHi, bLo, bHi }: Range): [number, number][] {
  const placeInA = findOnce(a, aLo, aHi)
  const placeInB = findOnce(b, bLo, bHi)
  const pairs: [number, number][] = []
  for (const [line, i] of placeInA) {
    const j = placeInB.get(line)
    if (i >= 0 && j !== undefined && j >= 0) pairs.push([i, j])
  }
  return longestRising(pairs.sort((x, y) => x[0] - y[0]))
}

/** Where each line stands that occurs once; -1 for those that occur more often. */
function findOnce(lines: Int32Array, lo: number, hi: number): Map<number, number> {
  const places = new Map<number, number>()
  for (let i = lo; i < hi; i++) {
    const line = lines[i] ?? -1
    places.set(line, places.has(line) ? -1 : i)
  }
  return places
}

function changesBetween(match: Int32Array, aLength: number, bLength: number): LineChange[] {
  const changes: LineChange[] = []
  let aStart = 0
  let bStart = 0
  for (let i = 0; i <= aLength; i++) {
    const j = i === aLength ? bLength : (match[i] ?? -1)
    if (j < 0) continue
    if (i > aStart || j > bStart) changes.push({ aStart, aEnd: i, bStart, bEnd: j })
    aStart = i + 1
    bStart = j + 1
  }
  return changes
}
