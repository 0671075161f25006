/*
 * The service as one command: the web pages, and the API in front of them, which brings its own PostgreSQL when no other
 * database is named. One port is open; the pages listen on another one, on this machine only.
 */
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildWeb, isWebBuilt } from './build-web.ts'
import { step } from './progress.ts'
import type { Supervisor } from './supervisor.ts'

const root = resolve(import.meta.dirname, '..')
const WEB_TIMEOUT_MS = 60_000
const POLL_MS = 50
/** Compiled code of API and pages from one start to the next. Beside the code it is made of, as that of the command line. */
const NODE_COMPILE_CACHE = join(root, 'node_modules/.cache/turnback-service')

export interface ServiceOptions {
  /** Everything that the service keeps, its logs too. */
  readonly dataDir: string
  /** The program that is the API, below the repository's root. It says where it is when it is ready. */
  readonly api: string
  /** Settings of the API, beside those of the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Called with each line that the API says, in order; the one with its address comes last. */
  readonly onLine: (line: string) => void
  /** Lines that are not for the log. */
  readonly isSecret: (line: string) => boolean
}

/** Starts the service, after building its pages if need be. @returns its address, without a slash at the end */
export async function startService(supervisor: Supervisor, options: ServiceOptions): Promise<string> {
  if (!isWebBuilt()) await step('Building the web pages', () => buildWeb(supervisor.start))
  return step('Starting the service', async () => {
    mkdirSync(options.dataDir, { recursive: true, mode: 0o711 })
    const webOrigin = `http://127.0.0.1:${await findFreePort()}`
    startWeb(supervisor, options.dataDir, webOrigin)
    const url = await startApi(supervisor, options, webOrigin)
    await waitUntilAnswers(`${webOrigin}/login`)
    return url
  })
}

/** Where the service keeps its data when TURNBACK_DATA does not say. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/turnback'
  return join(env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'turnback-server')
}

/** The pages need nothing of the service's secrets, so they get none. */
function startWeb(supervisor: Supervisor, dataDir: string, origin: string): void {
  const web = join(root, 'apps/web')
  const { PATH, HOME, LANG, TMPDIR } = process.env
  const { hostname, port } = new URL(origin)
  supervisor.start({
    name: 'web server',
    command: [
      process.execPath,
      join(web, 'node_modules/next/dist/bin/next'),
      'start',
      ...['--port', port, '--hostname', hostname],
    ],
    cwd: web,
    env: {
      PATH,
      HOME,
      LANG,
      TMPDIR,
      NODE_ENV: 'production',
      NEXT_TELEMETRY_DISABLED: '1',
      NODE_COMPILE_CACHE,
    },
    logFile: join(dataDir, 'logs/web.log'),
  })
}

function startApi(supervisor: Supervisor, options: ServiceOptions, webOrigin: string): Promise<string> {
  // An empty variable means that it is not set, as in an .env file that lists all of them.
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''))
  const env = {
    ...given,
    NODE_ENV: 'production',
    NODE_COMPILE_CACHE,
    WEB_ORIGIN: webOrigin,
    TURNBACK_DATA: options.dataDir,
  }
  return new Promise((ready) => {
    supervisor.start({
      name: 'API',
      command: [process.execPath, join(root, options.api)],
      cwd: root,
      env: { ...env, ...options.env },
      logFile: join(options.dataDir, 'logs/api.log'),
      isSecret: options.isSecret,
      onLine: (line) => {
        options.onLine(line)
        const url = /^Turnback is at (http\S+)$/.exec(line)?.[1]
        if (url !== undefined) ready(url)
      },
    })
  })
}

function findFreePort(): Promise<number> {
  return new Promise((found, fail) => {
    const server = createServer().once('error', fail)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        address && typeof address === 'object' ? found(address.port) : fail(new Error('no address')),
      )
    })
  })
}

async function waitUntilAnswers(url: string): Promise<void> {
  const deadline = Date.now() + WEB_TIMEOUT_MS
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => null)
    if (answer?.ok) return
    if (Date.now() > deadline)
      throw new Error(`${url} does not answer (${answer ? `status ${answer.status}` : 'no connection'}).`)
    await new Promise((go) => setTimeout(go, POLL_MS))
  }
}
