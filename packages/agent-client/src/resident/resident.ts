import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { watchTurns } from '#capture/watch-turns.ts'
import { CLIENT_VERSION } from '#client-version.ts'
import { type Environment, findHome, loadConfig, makeFolders } from '#config.ts'
import { type ClientDeps, openDeps } from '#deps.ts'
import type { Config, Home } from '#ports.ts'
import { createRemoteRestores } from '#restore/remote.ts'
import { makeLogFile } from '#store/log-file.ts'
import {
  deleteResidentFacts,
  type ResidentFacts,
  takeResidentLock,
  writeResidentFacts,
} from '#store/resident-files.ts'
import { SyncLoop } from '#sync/sync-loop.ts'
import { startHousekeeping } from './housekeeping.ts'
import { MeetingFolder } from './meeting-folder.ts'
import { watchOwnCode } from './own-code.ts'
import type { CallerRequest } from './request.ts'
import { RequestServer, type ServedStreams } from './request-server.ts'

/** Runs a command line of a caller in this process, on the store that is open already. */
export type RunLine = (
  request: CallerRequest,
  env: Environment,
  streams: ServedStreams,
  deps: ClientDeps,
  isWaiting: () => boolean,
) => Promise<number>

export interface ResidentParts {
  readonly env: Environment
  readonly runLine: RunLine
  /** Called once, when callers find it. */
  ready(): void
}

type Note = (event: string, facts?: Readonly<Record<string, unknown>>) => void

/** Callers of a resident before this one may still be looking at what it left behind. */
const OLD_PLACES_MS = 60_000
const LOOK_HOME_MS = 5_000

/**
 * Is the resident, until it is told to end: one per user, with one store open and every tree watched. It carries out
 * what `bin/turnback` brings, sends turns, and answers the service. @returns false when there is one already
 */
export async function runResident(parts: ResidentParts): Promise<boolean> {
  const home = findHome(parts.env)
  makeFolders(home)
  const lock = takeResidentLock(home.store)
  if (lock === null) return false
  const stop = new AbortController()
  const end = () => stop.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  // What runs is brought to its end, so the process does not just vanish.
  for (const signal of signals) process.removeAllListeners(signal).on(signal, end)
  const note = makeLogFile(home.logs, 'connect', () => Date.now())
  // A promise that nobody waited for is a fault of one piece of work, and no reason to leave the others alone.
  const onStray = (error: unknown) => note('stray-error', { message: describeError(error) })
  process.on('unhandledRejection', onStray)
  const looking = setInterval(() => {
    if (isGone(home)) end()
  }, LOOK_HOME_MS)
  try {
    await work(parts, home, note, stop.signal)
  } finally {
    clearInterval(looking)
    if (!isGone(home)) deleteResidentFacts(home.store)
    lock.release()
    for (const signal of signals) process.off(signal, end)
    process.off('unhandledRejection', onStray)
  }
  return true
}

/** Somebody removed it, or put another one in its place: there is nothing left to serve. */
function isGone(home: Home): boolean {
  return !existsSync(join(home.store, 'turnback.db'))
}

async function work(parts: ResidentParts, home: Home, note: Note, signal: AbortSignal): Promise<void> {
  const { env } = parts
  const deps = openDeps(env, { isResident: true, note })
  const facts = keepFacts(home, deps)
  try {
    const server = await serve(parts, home, deps, note)
    const ownCode = watchOwnCode(() => {
      server.retire()
      facts.put({ isOutdated: true, serves: false })
      note('outdated', {})
    })
    const cleaning = setTimeout(() => server.removeOldPlaces(), OLD_PLACES_MS)
    const housekeeping = startHousekeeping({ env, note })
    try {
      facts.put({ serves: true })
      note('started', { pid: process.pid, version: CLIENT_VERSION })
      parts.ready()
      const restores = createRemoteRestores(deps)
      const onState = (link: ResidentFacts['link'], server: string | null) =>
        facts.put({ link, server, since: new Date(deps.clock.nowMs()).toISOString() })
      const loop = new SyncLoop({ deps, env, note, restores, onState })
      await Promise.all([loop.run(signal), watchTurns(deps, note, signal)])
    } finally {
      clearTimeout(cleaning)
      await housekeeping.close()
      ownCode.close()
      facts.put({ serves: false })
      await server.stop()
      note('stopped', { pid: process.pid })
    }
  } finally {
    deps.close()
  }
}

function serve(parts: ResidentParts, home: Home, deps: ClientDeps, note: Note): Promise<RequestServer> {
  const folder = new MeetingFolder(home.socket, (error) =>
    note('no-pipes', { message: describeError(error) }),
  )
  return RequestServer.start({
    folder,
    env: parts.env,
    note,
    run: async (request, env, streams, isWaiting) =>
      renew(deps.config, home) ? parts.runLine(request, env, streams, deps, isWaiting) : null,
  })
}

/**
 * Makes it what `config.json` says now, as a process that starts now would read it.
 * @returns false when that cannot be read: the process that starts says so
 */
function renew(config: Config, home: Home): boolean {
  try {
    Object.assign(config, loadConfig(home))
    return true
  } catch {
    return false
  }
}

/** What the resident says of itself to other commands, written anew with each change. */
function keepFacts(home: Home, deps: ClientDeps) {
  const now = new Date(deps.clock.nowMs()).toISOString()
  let facts: Omit<ResidentFacts, 'process'> = {
    startedAt: now,
    version: CLIENT_VERSION,
    isOutdated: false,
    serves: false,
    watches: deps.watches !== null,
    link: 'not-logged-in',
    server: null,
    since: now,
  }
  return {
    put(changed: Partial<typeof facts>) {
      facts = { ...facts, ...changed }
      writeResidentFacts(home.store, facts)
    },
  }
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
