import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '@turnback/core'
import type { Environment } from '#config.ts'
import type { Deps } from '#ports.ts'
import { isAlive } from '#store/process.ts'
import { findResident, type ResidentFacts } from '#store/resident-files.ts'

/** What a resident in the background says to whoever started it, once. */
interface StartMessage {
  readonly ready: boolean
  readonly why?: string
}

const START_MS = 60_000
const STOP_MS = 30_000
const LOOK_MS = 20

/** Tells the starter of a background process; does nothing without one. */
export function tellStarter(message: StartMessage): void {
  if (process.send === undefined || !process.connected) return
  process.send(message, () => process.disconnect())
}

/** Starts a resident that outlives this process, and comes back when it is up. @throws INTERNAL with its words */
export async function startResident(deps: Deps, env: Environment, script: string): Promise<ResidentFacts> {
  const running = findResident(deps.home.store)
  if (running !== null) return running
  const child = spawn(process.execPath, [...process.execArgv, script, 'connect', '--foreground'], {
    cwd: '/',
    detached: true,
    // From another folder a relative path would mean another place.
    env: { ...env, ...(env.TURNBACK_HOME ? { TURNBACK_HOME: deps.home.config } : {}) },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const fail = (why: string) =>
    reject(new DomainError('INTERNAL', {}, { message: `The resident client did not start: ${why}` }))
  child.on('message', (message: StartMessage) => (message.ready ? resolve() : fail(message.why ?? '')))
  child.on('error', (error) => fail(error.message))
  child.on('exit', (code) => fail(`it ended with code ${code}. ${words}`.trim()))
  const timer = setTimeout(() => fail('it took too long.'), START_MS)
  try {
    await promise
  } finally {
    clearTimeout(timer)
    child.removeAllListeners()
    child.stderr?.destroy()
    if (child.connected) child.disconnect()
    child.unref()
  }
  const started = findResident(deps.home.store)
  if (started === null)
    throw new DomainError('INTERNAL', {}, { message: 'The resident client ended at once; see its log.' })
  return started
}

/** Ends the resident and waits until it is gone. @returns its pid, or null when there was none */
export async function stopResident(deps: Deps): Promise<number | null> {
  const resident = findResident(deps.home.store)
  if (resident === null) return null
  const { pid } = resident.process
  // Known by start time and boot, so a number that was given anew is not hit.
  process.kill(pid, 'SIGTERM')
  const until = performance.now() + STOP_MS
  while (isAlive(resident.process)) {
    if (performance.now() > until) {
      const message = `The resident client (process ${pid}) is still bringing its work to an end.`
      throw new DomainError('BUSY', { pid }, { message })
    }
    await sleep(LOOK_MS)
  }
  return pid
}
