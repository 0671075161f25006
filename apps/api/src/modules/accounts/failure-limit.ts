/** Counts failures by name in a sliding window, in memory. What succeeds costs nothing. */
export class FailureLimit {
  readonly #max: number
  readonly #windowMs: number
  readonly #failures = new Map<string, number[]>()

  constructor(max: number, windowMs: number) {
    this.#max = max
    this.#windowMs = windowMs
  }

  /** Milliseconds until another try is allowed; 0 when it is now. */
  waitMs(name: string, nowMs: number): number {
    const recent = this.#recent(name, nowMs)
    const first = recent[recent.length - this.#max]
    return first === undefined ? 0 : first + this.#windowMs - nowMs
  }

  add(name: string, nowMs: number): void {
    const recent = [...this.#recent(name, nowMs), nowMs]
    this.#failures.delete(name)
    this.#failures.set(name, recent.slice(-this.#max))
    // Bounded: whoever tries many names pushes out the oldest ones.
    if (this.#failures.size > 10_000) {
      const [oldest] = this.#failures.keys()
      if (oldest !== undefined) this.#failures.delete(oldest)
    }
  }

  #recent(name: string, nowMs: number): number[] {
    return (this.#failures.get(name) ?? []).filter((at) => nowMs - at < this.#windowMs)
  }
}
