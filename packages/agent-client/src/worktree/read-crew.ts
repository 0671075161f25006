import { Worker } from 'node:worker_threads'
import { DomainError, invariant } from '@turnback/core'
import type { WorkerYield } from '#store/worker-store.ts'
import type { Batch, BatchResults, JobFacts, Reply, Request } from './read-messages.ts'
import { readWorkerFile } from './worker-file.ts'

/** More threads are no faster on two cores, and each takes its own memory. */
const THREADS = 2
/** A thread that has read a batch finds the next one waiting. */
const BATCHES_AHEAD = 2

/**
 * Little garbage lives long here, and what it holds outside the heap, packed blocks above all, goes with it: without a
 * limit it takes as much memory as all the rest.
 */
const LIMITS = { maxYoungGenerationSizeMb: 1 }

/** Where files to read come from, and what is done with what was read. Called on the main thread. */
export interface CrewJob {
  /** Facts for each thread; only the names of its packs differ. */
  facts(): JobFacts
  /** Null when there is nothing to be read now. */
  next(): Batch | null
  take(batch: Batch, results: BatchResults): void
  /** True when what was read so far is to be made durable. Then no batch is given out until it was. */
  isSliceDue(): boolean
  /** What all threads have written since the last time; no file is half in it. */
  slice(written: readonly WorkerYield[], isLast: boolean): void
}

/**
 * Threads that read files and pack them: they name, compress and write. Started when they are first needed
 * and kept, since starting them takes longer than reading a small tree.
 */
export class ReadCrew {
  readonly #isKept: boolean
  #hands: Hand[] = []
  #last: Promise<unknown> = Promise.resolve()

  /** @param options.isKept true in a process that lives long: then what they could have done makes threads start */
  constructor({ isKept = false }: { readonly isKept?: boolean } = {}) {
    this.#isKept = isKept
  }

  /** True when reading by threads costs no start. */
  get isWarm(): boolean {
    return this.#hands.length === THREADS && this.#hands.every((hand) => hand.isUsable)
  }

  /** Begins to start what is not running. Returns at once. */
  start(): void {
    this.#hands = this.#hands.filter((hand) => hand.isUsable)
    while (this.#hands.length < THREADS) this.#hands.push(new Hand())
  }

  /** Told of files that threads would have read more quickly, had they been there. */
  missed(): void {
    if (this.#isKept) this.start()
  }

  /** Reads everything that the job has. Jobs come one after the other. @throws what a thread could not do */
  run(job: CrewJob): Promise<void> {
    const turn = this.#last.then(() => this.#run(job))
    this.#last = turn.catch(() => {})
    return turn
  }

  close(): void {
    for (const hand of this.#hands) hand.stop()
    this.#hands = []
  }

  async #run(job: CrewJob): Promise<void> {
    this.start()
    const hands = [...this.#hands]
    for (const hand of hands) hand.hold()
    try {
      await all(hands.map((hand) => hand.ask({ kind: 'begin', job: job.facts() })))
      for (let isLast = false; !isLast; ) {
        const stop = new AbortController()
        const pulls = hands.flatMap((hand) =>
          Array.from({ length: BATCHES_AHEAD }, () => pull(hand, job, stop)),
        )
        isLast = (await all(pulls)).every((isDry) => isDry) && !job.isSliceDue()
        const replies = await all(hands.map((hand) => hand.ask({ kind: 'finish' })))
        job.slice(replies.map(toYield), isLast)
      }
    } finally {
      await Promise.allSettled(hands.map((hand) => hand.ask({ kind: 'end' })))
      for (const hand of hands) hand.release()
    }
  }
}

/** Has one thread read until there is nothing to read, or a slice is due. True in the first case. */
async function pull(hand: Hand, job: CrewJob, stop: AbortController): Promise<boolean> {
  try {
    while (!stop.signal.aborted && !job.isSliceDue()) {
      const batch = job.next()
      if (batch === null) return true
      const reply = await hand.ask({ kind: 'read', batch })
      invariant(reply.kind === 'read', 'a batch is answered by its results')
      job.take(batch, reply.results)
    }
    return false
  } catch (error) {
    // What the others would still read is of no use to anybody.
    stop.abort()
    throw error
  }
}

function toYield(reply: Reply): WorkerYield {
  invariant(reply.kind === 'finished', 'a thread that finishes gives out what it wrote')
  return reply.written
}

/** Waits for all of them, also when one fails: nothing of a job goes on behind its end. */
async function all<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  return settled.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

interface Waiting {
  resolve(reply: Reply): void
  reject(error: unknown): void
}

/** One thread. It answers in the order in which it is asked. */
class Hand {
  readonly #worker: Worker
  readonly #waiting: Waiting[] = []
  #fault: unknown = null

  constructor() {
    this.#worker = new Worker(readWorkerFile(), { resourceLimits: LIMITS })
    this.#worker.unref()
    this.#worker.on('message', (reply: Reply) => this.#settle(reply))
    this.#worker.on('error', (error) => this.#give(error))
    this.#worker.on('exit', () => this.#give(new Error('a thread that read files has ended')))
  }

  get isUsable(): boolean {
    return this.#fault === null
  }

  /** The process does not end meanwhile. */
  hold(): void {
    this.#worker.ref()
  }

  release(): void {
    this.#worker.unref()
  }

  ask(request: Request): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#fault !== null) {
        reject(this.#fault)
        return
      }
      this.#waiting.push({ resolve, reject })
      this.#worker.postMessage(request)
    })
  }

  stop(): void {
    this.#give(new Error('the threads that read files were stopped'))
    void this.#worker.terminate()
  }

  #settle(reply: Reply): void {
    const waiting = this.#waiting.shift()
    invariant(waiting !== undefined, 'a thread answers what it was asked')
    if (reply.kind === 'refused')
      waiting.reject(DomainError.fromJSON(reply.error) ?? new Error(reply.error.message))
    else if (reply.kind === 'failed') waiting.reject(reply.error)
    else waiting.resolve(reply)
  }

  #give(error: unknown): void {
    this.#fault ??= error
    for (const { reject } of this.#waiting.splice(0)) reject(this.#fault)
  }
}
