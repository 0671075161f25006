import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { type Account, findClosedFolder, findServiceAccount } from './account.ts'
import { type Binaries, locateBinaries } from './binaries.ts'
import { waitUntilFree } from './postmaster.ts'

const USER = 'turnback'
const DATABASE = 'turnback'
const POLL_MS = 20
const READY_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 30_000
const PORT_TRIES = 5
const MAX_LOG_BYTES = 10_000_000

export interface EmbeddedPostgres {
  /** Of the database `turnback`, with its password. Only reachable from this machine. */
  readonly url: string
  /** Ends PostgreSQL in good order; may be called twice. */
  stop(): Promise<void>
}

interface Layout {
  readonly folder: string
  readonly cluster: string
  readonly passwordFile: string
  readonly logFile: string
}

/**
 * Starts a PostgreSQL of our own below `dataDir`, making it there at the first start. It lives no longer than
 * this process, however that ends, and comes back with its data at the next start.
 * @param options.isDurable false only for tests: no fsync, so a power cut loses data
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string
  isDurable?: boolean
}): Promise<EmbeddedPostgres> {
  const account = findServiceAccount()
  const layout = prepareFolders(options.dataDir, account)
  const binaries = locateBinaries(account, join(layout.folder, 'programs'))
  const password = readPassword(layout.passwordFile)
  await createClusterOnce(binaries, layout, account, password)
  await waitUntilFree(layout.cluster)
  for (let attempt = 1; ; attempt++) {
    const port = await findFreePort()
    const flags = serverFlags(port, options.isDurable ?? true)
    const child = spawnWatched(binaries.postgres, ['-D', layout.cluster, ...flags], layout, account)
    const server = `postgres://${USER}:${password}@127.0.0.1:${port}`
    try {
      await waitUntilReady(child, server, layout.logFile)
      return { url: `${server}/${DATABASE}`, stop: () => stopChild(child) }
    } catch (error) {
      await stopChild(child)
      if (attempt >= PORT_TRIES || !tailOf(layout.logFile).includes('could not bind')) throw error
    }
  }
}

function prepareFolders(dataDir: string, account: Account | null): Layout {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const folder = join(realpathSync(dataDir), 'postgres')
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  if (account !== null) {
    // The account may pass through, and read nothing.
    for (const own of [dataDir, folder]) chmodSync(own, (statSync(own).mode & 0o7777) | 0o011)
    const closed = findClosedFolder(folder)
    if (closed !== null)
      throw new Error(
        `PostgreSQL runs as "${account.name}" here, which may not enter ${closed}. Choose another data folder (TURNBACK_DATA), or let others pass through this one: chmod o+x ${closed}`,
      )
  }
  const state = join(folder, 'state')
  mkdirSync(state, { recursive: true, mode: 0o700 })
  if (account !== null) chownSync(state, account.uid, account.gid)
  return {
    folder,
    cluster: join(state, 'cluster'),
    passwordFile: join(state, 'password'),
    logFile: join(folder, 'postgres.log'),
  }
}

function readPassword(file: string): string {
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
  }
  return readFileSync(file, 'utf8')
}

/** Made beside its place and moved there when complete, so a start that was cut off leaves no half cluster. */
async function createClusterOnce(
  binaries: Binaries,
  layout: Layout,
  account: Account | null,
  password: string,
): Promise<void> {
  if (existsSync(layout.cluster)) return
  const half = `${layout.cluster}.new`
  rmSync(half, { recursive: true, force: true })
  const passwordFile = `${layout.passwordFile}.init`
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account !== null) chownSync(passwordFile, account.uid, account.gid)
  const flags = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  try {
    await promisify(execFile)(
      binaries.initdb,
      ['-D', half, `--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', ...flags],
      { ...identity(account), cwd: '/', env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' } },
    )
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(half, layout.cluster)
}

function serverFlags(port: number, isDurable: boolean): string[] {
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'log_min_messages=warning',
    // What people's agents did must not stand in a log, whatever statement fails.
    'log_min_error_statement=panic',
    'log_parameter_max_length_on_error=0',
    'log_error_verbosity=terse',
    ...(isDurable ? [] : ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off']),
  ]
  return settings.flatMap((setting) => ['-c', setting])
}

/**
 * Runs PostgreSQL below a shell that ends it in good order when our end of the pipe closes: that happens
 * however this process dies, so it leaves no orphan. A session of its own keeps Ctrl-C from reaching it first.
 */
const WATCHED = `exec 3<&0
"$@" 3<&- </dev/null & pid=$!
{ cat <&3 >/dev/null; kill -INT $pid; } 2>/dev/null &
exec 3<&-
wait $pid`

function spawnWatched(
  program: string,
  args: string[],
  layout: Layout,
  account: Account | null,
): ChildProcess {
  const isLong = existsSync(layout.logFile) && statSync(layout.logFile).size > MAX_LOG_BYTES
  const log = openSync(layout.logFile, isLong ? 'w' : 'a', 0o600)
  try {
    return spawn('/bin/sh', ['-c', WATCHED, 'turnback-postgres', program, ...args], {
      ...identity(account),
      stdio: ['pipe', log, log],
      cwd: '/',
      detached: true,
      env: { LC_ALL: 'C', PATH: process.env.PATH ?? '' },
    })
  } finally {
    closeSync(log)
  }
}

function identity(account: Account | null): { uid?: number; gid?: number } {
  return account === null ? {} : { uid: account.uid, gid: account.gid }
}

async function waitUntilReady(child: ChildProcess, server: string, logFile: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`PostgreSQL did not start. Its log ends:\n${tailOf(logFile)}`)
    const sql = postgres(`${server}/postgres`, { max: 1, connect_timeout: 5, onnotice: () => undefined })
    try {
      const [found] = await sql`select 1 from pg_database where datname = ${DATABASE}`
      if (found === undefined) await sql.unsafe(`create database ${DATABASE}`)
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    } finally {
      await sql.end({ timeout: 1 })
    }
    await wait(POLL_MS)
  }
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) })
  child.stdin?.end()
  await gone
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

function tailOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(-15).join('\n') : ''
}
