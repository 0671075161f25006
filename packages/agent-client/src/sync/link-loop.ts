import { type CommandId, limits, type MachineMessage, type ServerMessage } from '@turnback/core'
import { routes } from '@turnback/core/api'
import type { Backoff } from './backoff.ts'
import type { Caller } from './caller.ts'
import type { Commands } from './commands.ts'
import { holdLink, type LinkEnd } from './link.ts'
import { asDomainError } from './push-trouble.ts'
import type { Wake } from './wake.ts'

export interface LinkLoopParts {
  readonly caller: Caller
  readonly commands: Pick<Commands, 'handle'>
  readonly backoff: Backoff
  /** Rung when the link is to be tried again at once. */
  readonly wake: Wake
  hello(): MachineMessage
  onState(state: 'socket' | 'poll' | 'down'): void
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
}

/** A service that says more than this at once is not listened to. */
const MAX_WAITING = 100
/** So often the socket may fail to come up before messages are fetched instead. */
const FAILURES_BEFORE_POLL = 2
const POLL_MS = 60_000
const POLL_WAIT_SECONDS = 25

/** Hears what the service asks for: by the socket, or by asking now and then where no socket comes up. */
export class LinkLoop {
  readonly #parts: LinkLoopParts
  #queue: Promise<void> = Promise.resolve()
  #waiting = 0

  constructor(parts: LinkLoopParts) {
    this.#parts = parts
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const end = await this.#holdLink(signal)
      if (signal.aborted) break
      this.#parts.onState('down')
      this.#parts.note('link-ended', { why: end.why, detail: end.detail })
      failures = end.wasOpen ? 0 : failures + 1
      if (end.wasOpen && end.why !== 'foreign-message') this.#parts.backoff.reset()
      if (failures >= FAILURES_BEFORE_POLL && end.why !== 'refused') await this.#poll(signal)
      await this.#parts.wake.wait(this.#parts.backoff.nextMs(), signal)
    }
    await this.#queue
  }

  #holdLink(signal: AbortSignal): Promise<LinkEnd> {
    const ended = new AbortController()
    const link = {
      caller: this.#parts.caller,
      hello: () => this.#parts.hello(),
      onOpen: () => {
        this.#parts.note('link-open')
        this.#parts.onState('socket')
      },
      onMessage: (message: ServerMessage, say: (answer: MachineMessage) => void) => {
        if (!this.#take(message, say)) ended.abort()
      },
    }
    return holdLink(link, AbortSignal.any([signal, ended.signal]))
  }

  /** One after the other. False when too many wait. */
  #take(message: ServerMessage, say: (answer: MachineMessage) => unknown): boolean {
    if (this.#waiting >= MAX_WAITING) {
      this.#parts.note('too-many-messages')
      return false
    }
    this.#waiting++
    const acknowledge = () => {
      if ('id' in message) say({ type: 'ack', id: message.id })
    }
    this.#queue = this.#queue
      .then(() => this.#parts.commands.handle(message, acknowledge))
      .catch((error: unknown) =>
        this.#parts.note('command-failed', { message: asDomainError(error).message }),
      )
      .finally(() => {
        this.#waiting--
      })
    return true
  }

  /** For a while, then the socket is tried again. */
  async #poll(signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(POLL_MS)])
    const seen = new Set<CommandId>()
    // The first answer comes at once: it shows whether the service hears us at all.
    let waitSeconds = 0
    let takenUp: CommandId[] = []
    while (!until.aborted) {
      const commands = await this.#fetch({ waitSeconds, ack: takenUp }, until)
      if (commands === null) return
      if (waitSeconds === 0) this.#parts.onState('poll')
      waitSeconds = POLL_WAIT_SECONDS
      takenUp = []
      for (const message of commands) {
        if ('id' in message && seen.has(message.id)) continue
        if ('id' in message) seen.add(message.id)
        const note = (answer: MachineMessage) => answer.type === 'ack' && takenUp.push(answer.id)
        if (!this.#take(message, note)) return
      }
      await this.#queue
      // What comes again is being done; to ask faster does not do it faster.
      if (commands.length > 0 && takenUp.length === 0) await this.#parts.wake.wait(2_000, until)
    }
  }

  async #fetch(
    query: { waitSeconds: number; ack: CommandId[] },
    signal: AbortSignal,
  ): Promise<ServerMessage[] | null> {
    try {
      const options = { signal, idleMs: (POLL_WAIT_SECONDS + limits.busyWaitSeconds) * 1000 }
      const { commands } = await this.#parts.caller.call(routes.listCommands, { query }, options)
      return commands
    } catch (thrown) {
      if (signal.aborted) return null
      const error = asDomainError(thrown)
      this.#parts.note('poll-failed', { code: error.code, message: error.message })
      return null
    }
  }
}
