import { randomUUID } from 'node:crypto'
import { type CommandId, type MachineMessage, machineMessageSchema, type ServerMessage } from '@turnback/core'
import type { FastifyBaseLogger } from 'fastify'
import type { WebSocket } from 'ws'
import type { BusListener } from '#bus/bus.ts'
import type { Deps } from '#deps.ts'
import type { MachineActor } from '#http/actor.ts'
import { CLOSE, readFrame } from '#http/socket.ts'
import { recordGoodbye, recordHello, recordSignOfLife } from '#modules/machines/index.ts'
import { acknowledge, listMessages, recordBrokenRules } from './service.ts'

const MAX_MESSAGES_PER_MINUTE = 600

/**
 * One machine's link, from hello to its end. What happens on it happens one thing after another, so that an
 * acknowledgement cannot overtake the hello before it.
 */
export class LinkConnection {
  readonly #deps: Deps
  readonly #machine: MachineActor
  readonly #socket: WebSocket
  readonly #log: FastifyBaseLogger
  readonly #linkId = randomUUID()
  readonly #sent = new Set<CommandId>()
  #hasHello = false
  #unanswered = 0
  #heard = 0
  #work: Promise<void> = Promise.resolve()

  constructor(deps: Deps, machine: MachineActor, socket: WebSocket, log: FastifyBaseLogger) {
    this.#deps = deps
    this.#machine = machine
    this.#socket = socket
    this.#log = log
    socket.on('message', (data, isBinary) =>
      this.#next(() => this.#hear(readFrame(data, isBinary, machineMessageSchema))),
    )
    socket.on('close', () => this.#next(() => this.#end()))
    socket.on('error', (error) => log.warn({ reason: error.message }, 'machine link broke'))
    this.#say({ type: 'hello', serverTime: new Date(deps.clock.nowMs()).toISOString() })
  }

  get machine(): MachineActor {
    return this.#machine
  }

  close(code: number, why: string): void {
    this.#socket.close(code, why)
  }

  onNews(message: Parameters<BusListener>[0]): void {
    if (message.type === 'gap') this.#next(() => this.#sendOpen())
    if (!('machine' in message) || message.machine !== this.#machine.id) return
    if (message.type === 'command') this.#next(() => this.#sendOpen())
    if (message.type === 'revoked') this.close(CLOSE.policy, 'revoked')
  }

  /** Called every twenty seconds: two pings without an answer are the end of it. */
  onBeat(): void {
    this.#heard = 0
    if (this.#unanswered >= 2) {
      this.#socket.terminate()
      return
    }
    this.#unanswered += 1
    this.#say({ type: 'ping' })
  }

  async #hear(message: MachineMessage | null): Promise<void> {
    this.#heard += 1
    if (message === null || this.#heard > MAX_MESSAGES_PER_MINUTE / 3) {
      await recordBrokenRules(
        this.#deps,
        this.#machine.id,
        message === null ? 'no message of the set' : 'too many',
      )
      this.close(CLOSE.policy, 'not a message of the set')
      return
    }
    this.#unanswered = 0
    switch (message.type) {
      case 'hello':
        return await this.#greet(message)
      case 'pong':
        if (this.#hasHello && !(await recordSignOfLife(this.#deps, this.#machine.id, this.#linkId)))
          this.close(CLOSE.replaced, 'another link')
        return
      case 'ack':
        return await acknowledge(this.#deps, this.#machine.id, [message.id])
    }
  }

  async #greet(hello: Extract<MachineMessage, { type: 'hello' }>): Promise<void> {
    if (hello.machine !== this.#machine.id) {
      this.close(CLOSE.policy, 'another machine')
      return
    }
    const { version, policy } = hello
    await recordHello(this.#deps, this.#machine.id, { linkId: this.#linkId, version, policy: policy.remote })
    this.#hasHello = true
    await this.#sendOpen()
  }

  /** Everything that was not taken up, once on this link: after a broken one it all comes again. */
  async #sendOpen(): Promise<void> {
    if (!this.#hasHello) return
    for (const message of await listMessages(this.#deps, this.#machine.id)) {
      if (!('id' in message) || this.#sent.has(message.id)) continue
      this.#sent.add(message.id)
      this.#say(message)
    }
  }

  async #end(): Promise<void> {
    if (this.#hasHello) await recordGoodbye(this.#deps, this.#machine.id, this.#linkId)
  }

  #say(message: ServerMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message))
  }

  #next(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#log.error({ err: error }, 'machine link failed')
      this.close(CLOSE.internal, 'internal')
    })
  }

  /** Resolves when all that was begun on the link has ended. */
  settled(): Promise<void> {
    return this.#work
  }
}
