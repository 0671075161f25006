import { constants, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCommandName } from '#cli/command-name.ts'
import { EXIT } from '#cli/exit-code.ts'
import { CLIENT_VERSION } from '#client-version.ts'
import { type Environment, findHome } from '#config.ts'
import type { ProcessName } from '#store/process.ts'
import type { MeetingFolder, TakenRequest } from './meeting-folder.ts'
import { Reply } from './reply.ts'
import { type CallerRequest, PASSED_VARIABLES, parseRequest, SERVED } from './request.ts'
import { startTicker, type Ticker } from './ticker.ts'

/** Where the words of a command go, as on a command line. */
export interface ServedStreams {
  out(text: string | Uint8Array): void
  talk(text: string): void
  readStdin(): Promise<string>
}

export interface ServerParts {
  readonly folder: MeetingFolder
  /** The environment of this process: what a caller does not pass on is taken from here. */
  readonly env: Environment
  /** Carries one command line out. @returns the exit code, or null when it could not even begin */
  run(
    request: CallerRequest,
    env: Environment,
    streams: ServedStreams,
    isWaiting: () => boolean,
  ): Promise<number | null>
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
}

/** Of those, what must not be done for a caller that is gone: nobody would see the report. */
const NEEDS_CALLER: ReadonlySet<string> = new Set(['preview', 'restore', 'undo', 'redo'])

const LINE = /^[0-9a-z]{1,24}$/
/** Callers that had looked before the announcement went may still ring for about this long. */
const LAST_CALLS_MS = 50

/** After having been slow, callers are back at the latest after this. */
const QUICK_MS = 2000

/** Carries out the requests of callers, side by side; leases see to it that one tree is worked on by one at a time. */
export class RequestServer {
  readonly #parts: ServerParts
  readonly #running = new Set<Promise<void>>()
  readonly #bell: Socket
  readonly #quick: NodeJS.Timeout
  #ticker: Ticker | null = null
  #rest = ''
  #isEnding = false

  private constructor(parts: ServerParts) {
    this.#parts = parts
    // Open for writing too, so that it never comes to its end when a caller closes its own.
    const fd = openSync(parts.folder.bell, constants.O_RDWR | constants.O_NONBLOCK)
    this.#bell = new Socket({ fd, readable: true, writable: false })
    this.#bell.setEncoding('latin1').on('data', (text: string) => this.#onRings(text))
    // That this timer fires is what says so.
    this.#quick = setInterval(() => this.#lookAfterCallers(), QUICK_MS).unref()
    this.#bell.on('error', (error) => parts.note('bell-failed', { message: error.message }))
  }

  static async start(parts: ServerParts): Promise<RequestServer> {
    await parts.folder.prepare()
    const server = new RequestServer(parts)
    parts.folder.announce(CLIENT_VERSION, null)
    server.#ticker = startTicker(parts.folder.place, (ticker) => server.#announce(ticker))
    return server
  }

  /** New callers do their work themselves. */
  retire(): void {
    this.#parts.folder.withdraw()
    this.#isEnding = true
  }

  #lookAfterCallers(): void {
    try {
      this.#parts.folder.markAsQuick()
      this.#parts.folder.endLongReaders(Date.now())
    } catch (error) {
      this.#parts.note('callers-not-looked-after', {
        message: error instanceof Error ? error.message : String(error),
      })
    }
  }

  /** Where the folder is gone there is nobody to be told; what runs here goes on. */
  #announce(ticker: ProcessName | null): void {
    if (this.#isEnding) return
    try {
      this.#parts.folder.announce(CLIENT_VERSION, ticker)
    } catch (error) {
      this.#parts.note('not-announced', { message: error instanceof Error ? error.message : String(error) })
    }
  }

  removeOldPlaces(): void {
    this.#parts.folder.removeOldPlaces()
  }

  /** Ends when those that are here are served. */
  async stop(): Promise<void> {
    this.retire()
    await sleep(LAST_CALLS_MS)
    while (this.#running.size > 0) await Promise.all(this.#running)
    clearInterval(this.#quick)
    this.#ticker?.close()
    this.#bell.destroy()
  }

  #onRings(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const id of lines) {
      if (!LINE.test(id)) continue
      const running = this.#serve(id).catch((error: unknown) => {
        this.#parts.note('request-failed', {
          message: error instanceof Error ? error.message : String(error),
        })
      })
      this.#running.add(running)
      running.finally(() => this.#running.delete(running)).catch(() => undefined)
    }
  }

  async #serve(id: string): Promise<void> {
    const taken = this.#parts.folder.take(id)
    if (taken === null) return
    let isDone = false
    try {
      isDone = await this.#answer(taken)
    } finally {
      this.#parts.folder.forget(taken.base, isDone)
    }
  }

  /** @returns false when the caller is to do it itself */
  async #answer(taken: TakenRequest): Promise<boolean> {
    const reply = new Reply(taken, () => this.#isEnding)
    const request = parseRequest(taken.bytes)
    const why = request === null ? 'unreadable' : this.#findObjection(request, reply)
    if (request === null || why !== null) {
      this.#parts.note('declined', { why })
      await reply.decline()
      return false
    }
    const output: Buffer[] = []
    const code = await this.#run(taken, request, {
      out: (text) => output.push(Buffer.from(text)),
      talk: (text) => reply.talk(text),
    })
    if (code === null) await reply.decline()
    else await reply.end(code, Buffer.concat(output))
    return code !== null
  }

  async #run(
    taken: TakenRequest,
    request: CallerRequest,
    streams: Pick<ServedStreams, 'out' | 'talk'>,
  ): Promise<number | null> {
    const env = withVariables(this.#parts.env, request)
    const readStdin = async () => (request.hasStdin ? readFileSync(`${taken.base}.stdin`, 'utf8') : '')
    try {
      const isWaiting = () => this.#parts.folder.isWaitedFor(taken)
      return await this.#parts.run(request, env, { ...streams, readStdin }, isWaiting)
    } catch (error) {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
      this.#parts.note('request-failed', { message })
      streams.talk(`turnback: ${message}\n`)
      return EXIT.failed
    }
  }

  /** Why this request is none for this process, or null. */
  #findObjection(request: CallerRequest, reply: Reply): string | null {
    if (this.#isEnding) return 'ending'
    if (!this.#parts.folder.isPrivate()) return 'folder-open-to-others'
    if (request.version !== CLIENT_VERSION) return `version ${request.version}`
    const command = findCommandName(request.argv) ?? ''
    if (!SERVED.has(command)) return 'not-served'
    if (!isSameHome(this.#parts.env, request)) return 'another-home'
    if (!reply.isHeard && NEEDS_CALLER.has(command)) return 'caller-gone'
    return null
  }
}

function withVariables(own: Environment, { env: passed, folder }: CallerRequest): Environment {
  const env: Record<string, string | undefined> = { ...own }
  for (const name of PASSED_VARIABLES) {
    delete env[name]
    if (passed[name] !== undefined) env[name] = passed[name]
  }
  if (passed.TURNBACK_HOME) env.TURNBACK_HOME = resolve(folder, passed.TURNBACK_HOME)
  return env
}

/** Another store or other settings than those that are open here, however they are named. */
function isSameHome(own: Environment, request: CallerRequest): boolean {
  const places = (env: Environment) =>
    JSON.stringify([findHome(env), env.HOME, findHome({ ...env, TURNBACK_HOME: '' }).config])
  return places(own) === places(withVariables(own, request))
}
