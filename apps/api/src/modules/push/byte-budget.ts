interface Waiting {
  readonly bytes: number
  start(): void
}

/**
 * Lets work begin in the order it came, as long as what is at work together stays within `totalBytes`. Work that
 * is bigger than that alone goes when nothing else does.
 */
export class ByteBudget {
  readonly #totalBytes: number
  readonly #waiting: Waiting[] = []
  #usedBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
  }

  async run<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.push({ bytes, start: resolve })
      this.#startNext()
    })
    try {
      return await work()
    } finally {
      this.#usedBytes -= bytes
      this.#startNext()
    }
  }

  #startNext(): void {
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined) return
      if (this.#usedBytes > 0 && this.#usedBytes + next.bytes > this.#totalBytes) return
      this.#waiting.shift()
      this.#usedBytes += next.bytes
      next.start()
    }
  }
}
