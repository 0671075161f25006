/** Grows to a ceiling, with full jitter: machines that lost one server together do not come back together. */
export interface Backoff {
  /** How long to wait before the next try, in milliseconds; grows with each call. */
  nextMs(): number
  /** After a success: the next wait is a short one again. */
  reset(): void
}

/**
 * @param chance a number in [0, 1), new with each call
 */
export function makeBackoff(
  bounds: { readonly firstMs: number; readonly ceilingMs: number },
  chance: () => number,
): Backoff {
  let tries = 0
  return {
    nextMs() {
      const top = Math.min(bounds.ceilingMs, bounds.firstMs * 2 ** Math.min(tries, 30))
      tries++
      return Math.round(top / 2 + (top / 2) * chance())
    },
    reset() {
      tries = 0
    },
  }
}
