const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
export type StopSignal = (typeof SIGNALS)[number]

/** Whether somebody wants the run to end: it then ends what it started, and puts the tree in order first. */
export class Stop {
  #signal: StopSignal | null = null
  #count = 0
  readonly #wanted = Promise.withResolvers<void>()
  readonly #former = new Map<StopSignal, NodeJS.SignalsListener[]>()
  readonly #onMore: () => void

  /** @param onMore told of each further signal */
  constructor(onMore: () => void) {
    this.#onMore = onMore
  }

  get signal(): StopSignal | null {
    return this.#signal
  }

  /** True once it was asked for twice. */
  get isUrgent(): boolean {
    return this.#count > 1
  }

  /** Resolves when it is asked for. */
  get wanted(): Promise<void> {
    return this.#wanted.promise
  }

  ask(signal: StopSignal): void {
    this.#count++
    this.#signal ??= signal
    this.#wanted.resolve()
    if (this.#count > 1) this.#onMore()
  }

  /** Takes the signals over until {@link Stop.letGo}: the process does not end by them meanwhile. */
  takeOver(): void {
    for (const signal of SIGNALS) {
      this.#former.set(signal, process.listeners(signal))
      process.removeAllListeners(signal)
      process.on(signal, this.#heard)
    }
  }

  letGo(): void {
    for (const [signal, listeners] of this.#former) {
      process.removeListener(signal, this.#heard)
      for (const listener of listeners) process.on(signal, listener)
    }
    this.#former.clear()
  }

  readonly #heard = (signal: NodeJS.Signals): void => {
    const known = SIGNALS.find((each) => each === signal)
    if (known !== undefined) this.ask(known)
  }
}
