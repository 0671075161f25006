import { setImmediate } from 'node:timers/promises'

/** Others of this process are let work at least this often. */
const SLICE_MS = 8

/** Long work is done in slices: a resident client has other callers, and they wait for nobody's restore. */
export class Pace {
  #sinceMs = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#sinceMs >= SLICE_MS
  }

  /** Comes back at once, or, when it is time, after everything else that waits for this thread. */
  async breathe(): Promise<void> {
    if (!this.isOver) return
    await setImmediate()
    this.#sinceMs = performance.now()
  }
}
