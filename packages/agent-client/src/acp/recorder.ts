import { createHash } from 'node:crypto'
import { limits } from '@turnback/core'
import type { Act } from './conversation.ts'
import type { Scribe } from './scribe.ts'

/** Longer than a begin takes by its own limit: then something is wrong, and the conversation does not wait for it. */
const WAIT_MS = (limits.hookWaitSeconds + 2) * 1000
/** So much may wait to be written down before the conversation waits too. */
const QUEUED = 200
/** What tools do is only a label on what is found later: beyond this it is left out. */
const MOST_QUEUED = 2000
const PATHS = 100

export interface RecorderOptions {
  readonly scribe: Scribe
  readonly agent: () => string
  readonly agentPid: () => number | null
  /** Said to the person, once for each kind of trouble. */
  readonly tell: (text: string) => void
  readonly note: (event: string, facts: Readonly<Record<string, unknown>>) => void
  readonly waitMs?: number
}

/** Has things recorded, one after the other. What fails is told, and stops nobody. */
export class Recorder {
  readonly #options: RecorderOptions
  #last: Promise<void> = Promise.resolve()
  #queued = 0
  readonly #told = new Set<string>()
  /** Turns that were not begun: nothing is recorded of them. */
  readonly #lost = new Set<string>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** @returns what to wait for before the message is passed on, or null. It never rejects. */
  take(acts: readonly Act[]): Promise<void> | null {
    for (const act of acts) if (act.type !== 'tool' || this.#queued < MOST_QUEUED) this.#add(act)
    const isWaitedFor = acts.some(({ type }) => type !== 'tool') || this.#queued > QUEUED
    return acts.length > 0 && isWaitedFor ? this.settle() : null
  }

  /** Until all is recorded, or has taken too long. */
  async settle(): Promise<void> {
    const late = Promise.withResolvers<void>()
    const waitMs = this.#options.waitMs ?? WAIT_MS
    const timer = setTimeout(() => {
      this.#trouble('LATE', `recording takes longer than ${waitMs / 1000} s`)
      late.resolve()
    }, waitMs)
    await Promise.race([this.#last, late.promise])
    clearTimeout(timer)
  }

  #add(act: Act): void {
    this.#queued++
    this.#last = this.#last
      .then(() => this.#record(act))
      .catch((error: unknown) => this.#trouble('INTERNAL', String(error)))
      .finally(() => {
        this.#queued--
      })
  }

  async #record(act: Act): Promise<void> {
    const { key, folder } = act.turn
    if (act.type !== 'begin' && this.#lost.has(key)) return
    const input = act.type === 'begin' ? act.prompt : null
    const failure = await this.#options.scribe.run({ folder, words: this.#wordsOf(act), input })
    // A restore closed it, and nothing was done since.
    if (failure === null || failure.code === 'NO_OPEN_TURN') return
    if (act.type === 'begin') this.#lost.add(key)
    this.#trouble(failure.code, `${WHAT[act.type]}: ${failure.message}`, folder)
  }

  #wordsOf(act: Act): string[] {
    const { agent, agentPid } = this.#options
    const pid = agentPid()
    const named = [
      `--session=${sessionName(act.turn.session)}`,
      ...(act.type === 'lost' ? [] : [`--turn=${act.turn.key}`]),
    ]
    const by = [`--agent=${agent()}`, ...(pid === null ? [] : [`--agent-pid=${pid}`])]
    switch (act.type) {
      case 'begin':
        return [
          'begin',
          ...named,
          ...by,
          `--within=${limits.hookWaitSeconds}`,
          ...(act.prompt === null ? [] : ['--prompt=-']),
        ]
      case 'tool': {
        const { type, tool, command, paths } = act.news
        return [
          'event',
          ...[...named, ...by, `--within=${limits.hookWaitSeconds}`, `--type=${type}`, `--tool=${tool}`],
          ...(command === null ? [] : [`--command=${command}`]),
          ...paths.slice(0, PATHS).map((path) => `--path=${path}`),
        ]
      }
      case 'end':
        return ['end', ...named, `--reason=${act.reason}`]
      case 'lost':
        return ['event', ...named, '--type=session.end']
    }
  }

  #trouble(code: string, message: string, folder: string | null = null): void {
    this.#options.note('not-recorded', { code, message, folder })
    if (this.#told.has(code)) return
    this.#told.add(code)
    this.#options.tell(`turnback: ${message} (${code}). The conversation is not affected.`)
  }
}

const WHAT: Readonly<Record<Act['type'], string>> = {
  begin: 'this turn is not recorded',
  tool: 'a tool’s work is not labelled',
  end: 'the turn’s end is not recorded',
  lost: 'the turn’s end is not recorded',
}

/** A name that the log takes, for an agent that has longer ones. */
function sessionName(session: string): string {
  if (session.length <= limits.sessionCharacters) return session
  const rest = createHash('sha256').update(session).digest('hex').slice(0, 32)
  return `${session.slice(0, limits.sessionCharacters - 33)}-${rest}`
}
