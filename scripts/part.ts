/*
 * A part of the service: a process that lives no longer than the one that started it, however that one ends. Each runs
 * in a group of its own, so that Ctrl-C in a terminal reaches the supervisor alone, which then ends them in order.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'

const STOP_TIMEOUT_MS = 15_000
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
}

// The second child waits for our end of the pipe to close: by our wish, or because we were killed.
const watched = `exec 3<&0
"$@" 3<&- </dev/null & pid=$!
{ cat <&3 >/dev/null; kill -TERM $pid; } 2>/dev/null &
exec 3<&-
wait $pid`

export function startPart(options: PartOptions): Part {
  mkdirSync(dirname(options.logFile), { recursive: true })
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
      log.write(`${line}\n`)
      options.onLine?.(line)
    })
  let stopping = false
  const ended = endOf(child).then(async (way) => {
    child.stdin.destroy()
    await new Promise<void>((done) => log.end(done))
    return way
  })
  const stop = async () => {
    if (!stopping) {
      stopping = true
      child.stdin.end()
    }
    const timer = setTimeout(() => killGroup(child), STOP_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
    killGroup(child) // whatever the process itself did not end
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

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    // No such group: all of it has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
