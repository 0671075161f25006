import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const checkout = resolve(import.meta.dirname, '../..')
export const node = join(checkout, 'node_modules/node24/bin/node')

/** Where the running service is, and what a journey needs to know of it. Handed to the workers as JSON. */
export interface Stack {
  readonly url: string
  readonly setUpUrl: string
  /** Everything that the service keeps: database, objects, logs. */
  readonly dataDir: string
  /** Where journeys put their own files. */
  readonly scratch: string
}

export const admin = {
  name: 'Ada Sample',
  email: 'ada@example.invalid',
  password: 'correct-horse-battery',
} as const

export const SET_UP_LINK = /http:\S+\/setup#\S+/

const START_TIMEOUT_MS = 300_000

export interface Running {
  readonly url: string
  /** All that the start printed. */
  readonly said: string
  stop(): Promise<void>
}

/** Starts the service by the script that people start it with. */
export async function startService(dataDir: string): Promise<Running> {
  const env = { ...process.env, TURNBACK_DATA: dataDir, PORT: '', HOST: '', DATABASE_URL: '', NO_COLOR: '1' }
  const service = spawn(node, [join(checkout, 'scripts/start.ts')], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = await untilReady(service)
  let isStopping = false
  let after = ''
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => (after += chunk.toString()))
  service.once('close', (code) => {
    if (!isStopping) console.error(`The service of the journeys ended by itself (exit ${code}):\n${after}`)
  })
  const stop = async () => {
    isStopping = true
    if (service.exitCode !== null) return
    service.kill('SIGTERM')
    await once(service, 'close')
  }
  return { url: find(said, /(?<=runs at )http:\S+/), said, stop }
}

/** A folder for one run; as root, the embedded database runs under an account that has to pass through it. */
function makeScratch(): string {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-e2e-')))
  chmodSync(scratch, 0o711)
  return scratch
}

export async function startStack(): Promise<{ stack: Stack; stop: () => Promise<void> }> {
  const scratch = makeScratch()
  const dataDir = join(scratch, 'service')
  const { url, said, stop } = await startService(dataDir)
  const stack = { url, setUpUrl: find(said, SET_UP_LINK), dataDir, scratch }
  return {
    stack,
    stop: async () => {
      await stop()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

function find(said: string, pattern: RegExp): string {
  const match = pattern.exec(said)?.[0]
  if (match === undefined) throw new Error(`start printed no ${pattern}:\n${said}`)
  return match
}

export function currentStack(): Stack {
  const text = process.env.TURNBACK_E2E_STACK
  if (!text) throw new Error('No service is running for the journeys: global-setup.ts did not come first.')
  return JSON.parse(text)
}

/** Address of the embedded database, read from where the service keeps it. */
export function databaseUrl(stack: Stack): string {
  const state = join(stack.dataDir, 'postgres/state')
  const password = readFileSync(join(state, 'password'), 'utf8')
  const port = readFileSync(join(state, 'cluster/postmaster.pid'), 'utf8').split('\n')[3]
  return `postgres://turnback:${password}@127.0.0.1:${port}/turnback`
}

function untilReady(service: ChildProcess): Promise<string> {
  let said = ''
  return new Promise((ready, fail) => {
    const timer = setTimeout(() => {
      service.kill('SIGTERM')
      fail(new Error(`start was not ready in time:\n${said}`))
    }, START_TIMEOUT_MS)
    for (const stream of [service.stdout, service.stderr])
      stream?.on('data', (chunk: Buffer) => {
        said += chunk.toString()
        if (!said.includes('Data and logs:')) return
        clearTimeout(timer)
        ready(said)
      })
    service.once('close', (code) => {
      clearTimeout(timer)
      fail(new Error(`start ended (exit ${code}):\n${said}`))
    })
  })
}
