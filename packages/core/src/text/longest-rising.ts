/**
 * Of pairs in order of their first number, the longest part whose second numbers rise as well.
 * O(n log n).
 */
export function longestRising(pairs: readonly [number, number][]): [number, number][] {
  // tops[k]: index of the pair that ends the best run of length k + 1, the one with the smallest second number
  const tops: number[] = []
  const previous = new Int32Array(pairs.length).fill(-1)
  for (const [index, [, value]] of pairs.entries()) {
    let lo = 0
    let hi = tops.length
    while (lo < hi) {
      const middle = (lo + hi) >> 1
      if ((pairs[tops[middle] ?? 0]?.[1] ?? 0) < value) lo = middle + 1
      else hi = middle
    }
    previous[index] = lo > 0 ? (tops[lo - 1] ?? -1) : -1
    tops[lo] = index
  }
  const run: [number, number][] = []
  for (let index = tops.at(-1) ?? -1; index >= 0; index = previous[index] ?? -1) {
    const pair = pairs[index]
    if (pair !== undefined) run.push(pair)
  }
  return run.reverse()
}
