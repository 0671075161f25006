/*
 * A part of the service: a process that lives no longer than the one that started it, however that one ends. Each runs
 * in a group of its own, so that Ctrl-C in a terminal reaches the supervisor alone, which then ends them in order.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { isRunning, listBelow, listProcesses, type Process } from './processes.ts'

const STOP_TIMEOUT_SECONDS = 15
const GONE_TIMEOUT_MS = (STOP_TIMEOUT_SECONDS + 5) * 1_000
const GONE_POLL_MS = 10
const TAIL_LINES = 25

export interface Part {
  readonly name: string
  /** Resolves when the process has ended and its output is written, with the way it ended in words. */
  readonly ended: Promise<string>
  /** Ends the process and everything it started; may be called twice. */
  stop(): Promise<void>
}

export interface PartOptions {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** All that the process says is written here. */
  readonly logFile: string
  readonly onLine?: (line: string) => void
  /** Lines that are not for the log, such as a link that lets its reader in. */
  readonly isSecret?: (line: string) => boolean
  /** True for work that is done at some point, such as a build; its end is then no failure of the service. */
  readonly endsByItself?: boolean
}

/*
 * The watcher waits for our end of the pipe to close: by our wish, because the process ended, or because we were killed.
 * Then it asks the process to end, gives it time, and leaves nothing of the group behind, itself included.
 */
const watched = `exec 3<&0
"$@" 3<&- </dev/null & pid=$!
{
  cat <&3
  kill -TERM $pid
  n=0
  while kill -0 $pid && [ $n -lt ${STOP_TIMEOUT_SECONDS * 10} ]; do sleep 0.1; n=$((n + 1)); done
  kill -KILL 0
} >/dev/null 2>&1 &
exec 3<&-
wait $pid`

export function startPart(options: PartOptions): Part {
  mkdirSync(dirname(options.logFile), { recursive: true, mode: 0o700 })
  const log = createWriteStream(options.logFile, { flags: 'a', mode: 0o600 })
  const child = spawn('/bin/sh', ['-c', watched, `turnback-${options.name}`, ...options.command], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  child.stdin.on('error', () => undefined) // the pipe of a process that is gone
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      if (!options.isSecret?.(line)) log.write(`${line}\n`)
      options.onLine?.(line)
    })
  const ended = endOf(child).then(async (way) => {
    await new Promise<void>((done) => log.end(done))
    return way
  })
  const stop = async () => {
    // Some put themselves in a group of their own; they too have to be gone before their files are.
    const below = child.pid === undefined ? [] : listBelow(child.pid)
    child.stdin.end()
    await ended
    await untilGone(child.pid, below)
  }
  return { name: options.name, ended, stop }
}

/** The end of a log, for a message about why a part ended. */
export function tailOf(logFile: string): string {
  if (!existsSync(logFile)) return ''
  return readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-TAIL_LINES).join('\n')
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((done) => {
    child.once('error', (error) => done(error.message))
    child.once('close', (code, signal) => done(signal === null ? `exit ${code}` : signal))
  })
}

async function untilGone(group: number | undefined, below: readonly Process[]): Promise<void> {
  const deadline = Date.now() + GONE_TIMEOUT_MS
  while ((group !== undefined && hasMembers(group)) || below.some(isRunning)) {
    if (Date.now() > deadline) {
      for (const { pid } of below.filter(isRunning)) process.kill(pid, 'SIGKILL')
      return
    }
    await new Promise((go) => setTimeout(go, GONE_POLL_MS))
  }
}

function hasMembers(group: number): boolean {
  if (process.platform === 'linux') return listProcesses().some((process) => process.group === group)
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
