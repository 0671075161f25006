import { closeSync, writeFileSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { AT_WORK, DECLINED, endLine, talkLines } from './answer.ts'
import type { TakenRequest } from './meeting-folder.ts'

/** So often a caller hears that its request is still at work. */
const BEAT_MS = 1000
/** A caller that does not read its full pipe is looked at again after this. */
const FULL_MS = 20
/** When the resident is to end, a caller that reads nothing for this long is not waited for. */
const LAST_MS = 2000

/** The way back to one caller. A caller that is gone is no fault: the work was done all the same. */
export class Reply {
  readonly #base: string
  readonly #isEnding: () => boolean
  #pipe: number | null
  /** Lines that the pipe had no room for yet, in order. */
  #waiting: string[] = []
  readonly #beat: NodeJS.Timeout

  /** @param isEnding whether the resident is to end */
  constructor({ reply, base }: TakenRequest, isEnding: () => boolean) {
    this.#pipe = reply
    this.#base = base
    this.#isEnding = isEnding
    this.#beat = setInterval(() => this.#send(AT_WORK), BEAT_MS)
  }

  get isHeard(): boolean {
    return this.#pipe !== null
  }

  talk(text: string): void {
    for (const line of talkLines(Buffer.from(text))) this.#send(line)
  }

  async decline(): Promise<void> {
    this.#send(DECLINED)
    await this.#close()
  }

  async end(exitCode: number, output: Uint8Array): Promise<void> {
    const { line, isInFile } = endLine(exitCode, output)
    if (isInFile && this.isHeard) writeFileSync(`${this.#base}.out`, output, { mode: 0o600 })
    this.#send(line)
    await this.#close()
  }

  async #close(): Promise<void> {
    clearInterval(this.#beat)
    for (let silentMs = 0; silentMs < LAST_MS; silentMs = this.#isEnding() ? silentMs + FULL_MS : 0) {
      const left = this.#waiting.length
      if (this.#flush()) break
      if (this.#waiting.length < left) silentMs = 0
      await sleep(FULL_MS)
    }
    this.#drop()
  }

  #send(line: string): void {
    // A caller that does not read hears once that there is work, not again and again.
    if (line === AT_WORK && this.#waiting.length > 0) return
    this.#waiting.push(line)
    this.#flush()
  }

  /** @returns whether all is sent */
  #flush(): boolean {
    while (this.#waiting[0] !== undefined && this.#write(this.#waiting[0])) this.#waiting.shift()
    return this.#waiting.length === 0
  }

  /** @returns false when the pipe is full */
  #write(line: string): boolean {
    if (this.#pipe === null) return true
    try {
      writeSync(this.#pipe, line)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return false
      this.#drop()
    }
    return true
  }

  #drop(): void {
    if (this.#pipe !== null) closeSync(this.#pipe)
    this.#pipe = null
  }
}
