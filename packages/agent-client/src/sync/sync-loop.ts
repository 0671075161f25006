import type { MachineMessage } from '@turnback/core'
import { CLIENT_VERSION } from '#client-version.ts'
import type { Deps } from '#ports.ts'
import type { RemoteRestores } from '#restore/remote.ts'
import { type LinkState, watchFolder } from '#store/resident-files.ts'
import { makeBackoff } from './backoff.ts'
import type { Caller } from './caller.ts'
import { Commands } from './commands.ts'
import { LinkLoop } from './link-loop.ts'
import { type Connection, connectCaller, findConnection } from './login.ts'
import { findPause } from './pause.ts'
import { loadPolicy } from './policy.ts'
import { Pusher } from './push.ts'
import { asDomainError } from './push-trouble.ts'
import { listQuietUnsettled, settleAll } from './settle.ts'
import { Wake } from './wake.ts'

export interface SyncParts {
  readonly deps: Deps
  readonly restores: RemoteRestores
  readonly env: Readonly<Record<string, string | undefined>>
  /** By which way the service is heard now. */
  onState(link: LinkState, server: string | null): void
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
}

/** Without news, so often things are looked at anyway. */
const LOOK_MS = 10_000
const PUSH_BOUNDS = { firstMs: 500, ceilingMs: 60_000 }
const LINK_BOUNDS = { firstMs: 300, ceilingMs: 15_000 }

/** Sends new turns soon after their end and does what the service may ask for. Without a login it only waits for one. */
export class SyncLoop {
  readonly #parts: SyncParts
  readonly #commands: Commands
  readonly #news = new Wake()
  readonly #settings = new Wake()
  readonly #linkNews = new Wake()
  #link: LinkState = 'not-logged-in'
  #server: string | null = null
  #outbox = ''

  constructor(parts: SyncParts) {
    const { deps, restores, note } = parts
    this.#parts = parts
    this.#commands = new Commands({ deps, restores, note, wakePush: () => this.#news.ring() })
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { deps } = this.#parts
    const watchers = [
      watchFolder(
        deps.home.store,
        (name) => !name.startsWith('turnback.db'),
        () => this.#lookForNews(),
      ),
      watchFolder(
        deps.home.config,
        (name) => name.startsWith('.'),
        () => this.#settings.ring(),
      ),
    ]
    try {
      this.#sayState('not-logged-in', null)
      await this.#commands.resume()
      while (!signal.aborted) await this.#runUntilSettingsChange(signal)
    } finally {
      for (const watcher of watchers) watcher.close()
    }
  }

  async #runUntilSettingsChange(signal: AbortSignal): Promise<void> {
    const settings = this.#readSettings()
    const changed = new AbortController()
    const session = AbortSignal.any([signal, changed.signal])
    const watching = this.#endWhenSettingsChange(settings, changed, signal)
    try {
      const { connection } = settings
      if (connection === null) this.#sayState(settings.isPaused ? 'paused' : 'not-logged-in', null)
      else await this.#serve(connection, session)
    } finally {
      await watching
    }
  }

  async #endWhenSettingsChange(from: Settings, changed: AbortController, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#settings.wait(LOOK_MS / 4, signal)
      if (this.#readSettings().key !== from.key) break
    }
    changed.abort()
  }

  #readSettings(): Settings {
    const { deps, env } = this.#parts
    const isPaused = findPause(deps.log, deps.clock.nowMs()) !== null
    const connection = isPaused ? null : findConnection(deps.home, env)
    const policy = loadPolicy(deps.home)
    return { connection, isPaused, key: JSON.stringify([connection, isPaused, policy]) }
  }

  async #serve(connection: Connection, session: AbortSignal): Promise<void> {
    const { deps } = this.#parts
    const caller = connectCaller(deps, connection)
    this.#sayState('down', caller.server.origin)
    try {
      await Promise.all([this.#pushLoop(caller, session), this.#makeLinkLoop(caller).run(session)])
    } finally {
      caller.close()
    }
  }

  #makeLinkLoop(caller: Caller): LinkLoop {
    const { deps, note } = this.#parts
    return new LinkLoop({
      caller,
      commands: this.#commands,
      backoff: makeBackoff(LINK_BOUNDS, Math.random),
      wake: this.#linkNews,
      note,
      hello: (): MachineMessage => ({
        type: 'hello',
        machine: deps.identity().machine,
        version: CLIENT_VERSION,
        policy: { remote: loadPolicy(deps.home).remote },
      }),
      onState: (state) => {
        this.#sayState(state, caller.server.origin)
        // The service is back: what waited for it is sent at once.
        if (state !== 'down') this.#news.ring()
      },
    })
  }

  async #pushLoop(caller: Caller, session: AbortSignal): Promise<void> {
    const { deps, note } = this.#parts
    const backoff = makeBackoff(PUSH_BOUNDS, Math.random)
    const { log, blobs, clock } = deps
    const pusher = new Pusher({ log, blobs, clock, identity: deps.identity(), caller, note })
    while (!session.aborted) {
      const isDone = await this.#pushOnce(pusher, caller, session)
      this.#outbox = this.#describeOutbox()
      if (isDone) backoff.reset()
      await this.#news.wait(isDone ? LOOK_MS : backoff.nextMs(), session)
    }
  }

  async #pushOnce(pusher: Pusher, caller: Caller, session: AbortSignal): Promise<boolean> {
    try {
      await this.#commands.deliver(caller, session)
      const { deps, note } = this.#parts
      await settleAll(deps, listQuietUnsettled(deps), note)
      const { error } = await pusher.run(session)
      return error === null
    } catch (thrown) {
      const error = asDomainError(thrown)
      if (!session.aborted) this.#parts.note('push-failed', { code: error.code, message: error.message })
      return false
    }
  }

  /** Something was written in the store, by us or by others: news only if there is something else to be sent. */
  #lookForNews(): void {
    this.#settings.ring()
    if (this.#describeOutbox() !== this.#outbox) this.#news.ring()
  }

  #describeOutbox(): string {
    const { deps } = this.#parts
    const { log } = deps
    const unsettled = listQuietUnsettled(deps).map((workspace) => workspace.id)
    const reports = log.listReportNamesToPush()
    return JSON.stringify([log.countOutbox(), log.listHeadsToPush(), reports, unsettled])
  }

  #sayState(link: LinkState, server: string | null): void {
    if (link === this.#link && server === this.#server && this.#server !== null) return
    this.#link = link
    this.#server = server
    this.#parts.onState(link, server)
    this.#parts.note('link', { state: link })
  }
}

interface Settings {
  readonly connection: Connection | null
  readonly isPaused: boolean
  /** Equal when nothing that matters has changed. */
  readonly key: string
}
