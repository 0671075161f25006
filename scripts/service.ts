/*
 * The service as one command: the web pages, the API in front of them, and the API's embedded PostgreSQL when no other
 * database is named. One port is open to the outside; the pages listen on another one, on this machine only.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildWeb, isWebBuilt } from './build-web.ts'
import { step } from './progress.ts'
import type { Supervisor } from './supervisor.ts'

const root = resolve(import.meta.dirname, '..')
const DEFAULT_PORT = 4117
const PORT_TRIES = 50
const READY_TIMEOUT_MS = 120_000
const READY_POLL_MS = 50

export interface Service {
  /** Where people and machines reach it, without a slash at the end. */
  readonly url: string
  /** The one-time link for the first administrator; null once there is one. */
  readonly setUpUrl: string | null
}

export interface ServiceOptions {
  /** Everything that the service keeps, its logs too. */
  readonly dataDir: string
  readonly host: string
  /** Null: the usual one, or the next that is free. */
  readonly port: number | null
}

export async function startService(supervisor: Supervisor, options: ServiceOptions): Promise<Service> {
  if (!isWebBuilt()) await step('Building the web pages', () => buildWeb(supervisor.start))
  const port = options.port ?? (await findPort(options.host))
  const webPort = await findPort('127.0.0.1', 0)
  mkdirSync(options.dataDir, { recursive: true, mode: 0o711 })
  return step('Starting the service', async () => {
    startWeb(supervisor, options.dataDir, webPort)
    const setUpUrl = startApi(supervisor, { ...options, port }, webPort)
    const url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`
    await waitUntilAnswers(`${url}/readyz`)
    await waitUntilAnswers(`http://127.0.0.1:${webPort}/login`)
    return { url: process.env.PUBLIC_URL || url, setUpUrl: setUpUrl() }
  })
}

/** The pages need nothing of the service's secrets, so they get none. */
function startWeb(supervisor: Supervisor, dataDir: string, port: number): void {
  const web = join(root, 'apps/web')
  const { PATH, HOME, LANG, TMPDIR } = process.env
  supervisor.start({
    name: 'web server',
    command: [
      process.execPath,
      join(web, 'node_modules/next/dist/bin/next'),
      'start',
      ...['--port', String(port), '--hostname', '127.0.0.1'],
    ],
    cwd: web,
    env: { PATH, HOME, LANG, TMPDIR, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    logFile: join(dataDir, 'logs/web.log'),
  })
}

function startApi(
  supervisor: Supervisor,
  { dataDir, host, port }: ServiceOptions & { port: number },
  webPort: number,
): () => string | null {
  const setUpLink = /https?:\/\/\S+\/setup#[\w.-]+/
  let setUpUrl: string | null = null
  // An empty variable means that it is not set, as in an .env file that lists all of them.
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''))
  supervisor.start({
    name: 'API',
    command: [process.execPath, join(root, 'apps/api/src/main.ts')],
    cwd: root,
    env: {
      ...given,
      NODE_ENV: 'production',
      HOST: host,
      PORT: String(port),
      TURNBACK_DATA: dataDir,
      WEB_ORIGIN: `http://127.0.0.1:${webPort}`,
    },
    logFile: join(dataDir, 'logs/api.log'),
    isSecret: (line) => setUpLink.test(line),
    onLine: (line) => {
      setUpUrl ??= setUpLink.exec(line)?.[0] ?? null
    },
  })
  return () => setUpUrl
}

/** Settings of the environment that `start` and `demo` both respect. @throws when PORT is no port */
export function settingsOf(env: NodeJS.ProcessEnv): { host: string; port: number | null } {
  const port = env.PORT ? Number(env.PORT) : null
  if (port !== null && !(Number.isInteger(port) && port > 0 && port < 65_536))
    throw new Error(`PORT is "${env.PORT}"; it must be a number from 1 to 65535.`)
  return { host: env.HOST || '127.0.0.1', port }
}

/** Where the service keeps its data when TURNBACK_DATA does not say. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/turnback'
  return join(env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'turnback-server')
}

async function findPort(host: string, first: number = DEFAULT_PORT): Promise<number> {
  if (first === 0) return tryPort(host, 0)
  for (let port = first; port < first + PORT_TRIES; port++) {
    try {
      return await tryPort(host, port)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    }
  }
  throw new Error(
    `No port from ${first} to ${first + PORT_TRIES - 1} is free on ${host}. Name one with PORT.`,
  )
}

function tryPort(host: string, port: number): Promise<number> {
  return new Promise((found, fail) => {
    const server = createServer().once('error', fail)
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() =>
        address && typeof address === 'object' ? found(address.port) : fail(new Error('no address')),
      )
    })
  })
}

async function waitUntilAnswers(url: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > deadline)
      throw new Error(`${url} does not answer (${answer ? `status ${answer.status}` : 'no connection'}).`)
    await new Promise((go) => setTimeout(go, READY_POLL_MS))
  }
}
