import { close, closeSync } from 'node:fs'

/** More than this are not let wait: each holds the room that its file took. */
const MOST = 64

/**
 * Closes files that have no name any more, beside everything else: with the last hold on a file its room is given back,
 * which on some disks takes longer than all that was done to replace it.
 */
export class Closer {
  #open = 0
  #waiting: (() => void)[] = []

  /** Never waits long, and needs no answer: what is closed was only read. */
  close(fd: number): void {
    if (this.#open >= MOST) {
      closeSync(fd)
      return
    }
    this.#open++
    close(fd, () => {
      this.#open--
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  /** Comes back once one more may wait. */
  untilFew(): Promise<void> {
    return this.#until(MOST - 1)
  }

  /** Comes back once all are closed. */
  untilNone(): Promise<void> {
    return this.#until(0)
  }

  async #until(most: number): Promise<void> {
    while (this.#open > most) await new Promise<void>((wake) => this.#waiting.push(wake))
  }
}
