/** A sleeper that can be woken: news end the wait at once, and news that come while nobody waits are kept. */
export class Wake {
  #pending = false
  #waiter: (() => void) | null = null

  ring(): void {
    this.#pending = true
    this.#waiter?.()
  }

  /** Comes back when rung, after `ms`, or when aborted; never throws. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#pending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, ms)
      const onAbort = () => resolve()
      signal.addEventListener('abort', onAbort)
      this.#waiter = resolve
      await promise
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      this.#waiter = null
    }
    this.#pending = false
  }
}
