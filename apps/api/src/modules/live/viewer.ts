import type { ProjectId } from '@turnback/core'
import { type LiveNews, type LiveRequest, liveRequestSchema } from '@turnback/core/api'
import type { FastifyBaseLogger } from 'fastify'
import type { WebSocket } from 'ws'
import { CLOSE, readFrame } from '#http/socket.ts'

const MAX_MESSAGES_PER_BEAT = 60
const MAX_PROJECTS = 100
/** Who has this much unread does not read. */
const MAX_UNREAD_BYTES = 1024 * 1024

interface Rules {
  mayRead(project: ProjectId): Promise<boolean>
  isSignedIn(): Promise<boolean>
}

/** One browser: what it asked to hear of, and whether it may still. */
export class Viewer {
  readonly #socket: WebSocket
  readonly #rules: Rules
  readonly #projects = new Set<ProjectId>()
  #unanswered = 0
  #heard = 0

  constructor(socket: WebSocket, rules: Rules, log: FastifyBaseLogger) {
    this.#socket = socket
    this.#rules = rules
    socket.on('message', (data, isBinary) => {
      this.#hear(readFrame(data, isBinary, liveRequestSchema)).catch((error: unknown) => {
        log.error({ err: error }, 'live socket failed')
        this.close(CLOSE.internal, 'internal')
      })
    })
    socket.on('error', (error) => log.warn({ reason: error.message }, 'live socket broke'))
  }

  get projects(): ReadonlySet<ProjectId> {
    return this.#projects
  }

  close(code: number, why: string): void {
    this.#socket.close(code, why)
  }

  say(news: LiveNews): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > MAX_UNREAD_BYTES) this.close(CLOSE.slow, 'does not read')
    else this.#socket.send(JSON.stringify(news))
  }

  onBeat(): void {
    this.#heard = 0
    if (this.#unanswered >= 2) {
      this.#socket.terminate()
      return
    }
    this.#unanswered += 1
    this.say({ type: 'ping' })
  }

  /** Sessions end and roles are taken away: what was allowed once is asked again. */
  async revalidate(): Promise<void> {
    if (!(await this.#rules.isSignedIn())) {
      this.close(CLOSE.policy, 'signed out')
      return
    }
    for (const project of this.#projects)
      if (!(await this.#rules.mayRead(project))) this.#projects.delete(project)
  }

  async #hear(message: LiveRequest | null): Promise<void> {
    this.#heard += 1
    if (message === null || this.#heard > MAX_MESSAGES_PER_BEAT) {
      this.close(CLOSE.policy, 'not a message of the set')
      return
    }
    this.#unanswered = 0
    switch (message.type) {
      case 'pong':
        return
      case 'unsubscribe':
        this.#projects.delete(message.project)
        return
      case 'subscribe': {
        // Foreign and unknown projects are answered alike: by nothing.
        if (this.#projects.size >= MAX_PROJECTS || !(await this.#rules.mayRead(message.project))) return
        this.#projects.add(message.project)
        this.say({ type: 'subscribed', project: message.project })
        return
      }
    }
  }
}
