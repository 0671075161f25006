import {
  type FSWatcher,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** How long the proof may take. It comes in a tenth of a millisecond, unless the queue ran over. */
const PROOF_MS = 250
/** The kernel's own default, for when it does not say. */
const DEFAULT_QUEUE = 16_384
/** A clock that is set, or a machine that slept, shows as this much difference between two clocks. */
const JUMP_MS = 2000

/**
 * All watchers of this process share one queue of the kernel (inotify, one instance per event loop of Node), which keeps
 * the order of events. So a file that we make in a folder of our own proves, once we hear of it, that every earlier event
 * of any watched folder has been told. The queue holds a limited number of events and drops the rest; Node does not pass
 * the notice of that on, so events that come in one go are counted.
 */
export class WatchOrder {
  readonly #folder: string
  readonly #watcher: FSWatcher
  readonly #waiting = new Map<string, () => void>()
  readonly #manyEvents: number
  #next = 0
  #inOneGo = 0
  #clocksApartMs = clocksApartMs()
  #losses = 0

  /** @param folder of our own; what is in it is removed */
  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true })
    this.#manyEvents = readQueueLength() / 2
    this.#watcher = watch(folder, { persistent: false }, (_, name) => {
      this.count()
      const proven = name === null ? undefined : this.#waiting.get(name)
      proven?.()
    })
    this.#watcher.on('error', () => this.distrust())
  }

  /** Changes whenever events may have been lost, or time passed unseen: then nothing that was heard is complete. */
  get losses(): number {
    return this.#losses
  }

  distrust(): void {
    this.#losses++
  }

  /** To be called for each event of each watcher. */
  count(): void {
    this.#inOneGo++
    if (this.#inOneGo === 1) {
      setImmediate(() => {
        this.#inOneGo = 0
      })
    }
    // Half of what the queue holds: some events are told of nobody, because their folder is not watched any more.
    if (this.#inOneGo === Math.floor(this.#manyEvents)) this.distrust()
  }

  /** True when every event before this call has been told. */
  async prove(): Promise<boolean> {
    this.#noticeSleep()
    const name = `${this.#next++}`
    const file = join(this.#folder, name)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), PROOF_MS)
    this.#waiting.set(name, () => resolve(true))
    try {
      writeFileSync(file, '', { mode: 0o600 })
      const isProven = await promise
      if (!isProven) this.distrust()
      return isProven
    } catch {
      // A full disk: nothing is proven.
      return false
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(name)
      removeIfThere(file)
    }
  }

  close(): void {
    this.#watcher.close()
  }

  #noticeSleep(): void {
    const apart = clocksApartMs()
    if (Math.abs(apart - this.#clocksApartMs) > JUMP_MS) this.distrust()
    this.#clocksApartMs = apart
  }
}

/** The clock on the wall goes on while a machine sleeps, the other one does not. */
function clocksApartMs(): number {
  return Date.now() - performance.now()
}

function readQueueLength(): number {
  try {
    const length = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'latin1'))
    return Number.isSafeInteger(length) && length > 0 ? length : DEFAULT_QUEUE
  } catch {
    return DEFAULT_QUEUE
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Gone with its folder, or never made.
  }
}
