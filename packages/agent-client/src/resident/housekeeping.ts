import { type ChildProcess, spawn } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import type { Environment } from '#config.ts'

const FIRST_MS = 60_000
const EVERY_MS = 3_600_000
/** Of what it prints; it is one line. */
const WORDS = 4_000

export interface HousekeepingParts {
  readonly env: Environment
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
  /** What starts the client: program, its options and the script. This process's own when not given. */
  readonly command?: readonly string[]
  readonly firstMs?: number
  readonly everyMs?: number
}

export interface Housekeeping {
  /** Ends what runs; it is complete by step, so nothing is lost. */
  close(): Promise<void>
}

/**
 * Runs `gc` a minute after this, and each hour then. In a process of its own and of the lowest priority: it compresses and
 * reads for seconds, while who is served here waits for milliseconds.
 */
export function startHousekeeping(parts: HousekeepingParts): Housekeeping {
  let running: ChildProcess | null = null
  let isClosed = false
  const run = () => {
    if (isClosed) return
    running = runGc(parts, () => {
      running = null
      if (!isClosed) timer = setTimeout(run, parts.everyMs ?? EVERY_MS)
    })
  }
  let timer = setTimeout(run, parts.firstMs ?? FIRST_MS)
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      const child = running
      if (child === null || child.exitCode !== null || child.signalCode !== null) return
      const over = new Promise((done) => child.once('exit', done))
      child.kill('SIGTERM')
      await over
    },
  }
}

function runGc({ env, note, command }: HousekeepingParts, done: () => void): ChildProcess {
  const [program = '', ...args] = command ?? [process.execPath, ...process.execArgv, process.argv[1] ?? '']
  const child = spawn(program, [...args, 'gc', '--json'], {
    cwd: '/',
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let words = ''
  let isOver = false
  const end = (event: string, facts: Readonly<Record<string, unknown>>) => {
    if (isOver) return
    isOver = true
    note(event, facts)
    done()
  }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-WORDS)
  })
  child.on('error', (error) => end('gc-failed', { message: error.message }))
  child.on('close', (code, signal) => {
    const result = readJson(words)
    if (code === 0 && result !== null) end('gc', result)
    else end('gc-failed', { code, signal, ...result })
  })
  lowerPriority(child)
  return child
}

/** Where the system does not allow it, it goes without. */
function lowerPriority(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    setPriority(child.pid, constants.priority.PRIORITY_LOW)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
  }
}

function readJson(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : null
  } catch {
    return null
  }
}
