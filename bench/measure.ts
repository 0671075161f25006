import { spawn, spawnSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A process to be measured: what a hook would start. */
export interface Command {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface Sample {
  /** From just before the process is made until it has ended. */
  readonly ms: number
  readonly stdout: string
}

/** Runs one process to its end. @throws when it fails: a time of something that did not work means nothing. */
export function run(command: Command): Sample {
  const [file, ...args] = command.argv
  const startMs = performance.now()
  const { status, signal, stdout, stderr, error } = spawnSync(file, args, {
    cwd: command.cwd,
    env: command.env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  })
  const ms = performance.now() - startMs
  if (error !== undefined) throw error
  if (status !== 0) {
    const said = `${stderr}${stdout}`.trim().slice(-600)
    throw new Error(`${command.argv.slice(0, 3).join(' ')} ended with ${signal ?? status}: ${said}`)
  }
  return { ms, stdout }
}

/** The same, with the most memory that it and its children held at once; null where /proc does not tell. */
export async function runForPeak(command: Command): Promise<{ ms: number; peakBytes: number | null }> {
  const [file, ...args] = command.argv
  const startMs = performance.now()
  const child = spawn(file, args, { cwd: command.cwd, env: command.env, stdio: ['ignore', 'ignore', 'pipe'] })
  let words = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-600)
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  child.once('error', reject)
  child.once('exit', (code, signal) =>
    code === 0 ? resolve() : reject(new Error(`${file} ended with ${signal ?? code}: ${words}`)),
  )
  // The kernel keeps the high-water mark itself, so only the very last moments can be missed.
  const peaks = new Map<number, number>()
  const timer = setInterval(() => notePeaks(child.pid ?? 0, peaks), 5)
  try {
    await promise
  } finally {
    clearInterval(timer)
  }
  const ms = performance.now() - startMs
  const sum = [...peaks.values()].reduce((total, each) => total + each, 0)
  return { ms, peakBytes: sum === 0 ? null : sum }
}

function notePeaks(pid: number, peaks: Map<number, number>): void {
  const kib = /VmHWM:\s+([0-9]+) kB/.exec(readProc(`/proc/${pid}/status`))?.[1]
  if (kib !== undefined) peaks.set(pid, Number(kib) * 1024)
  for (const child of readProc(`/proc/${pid}/task/${pid}/children`).split(' ')) {
    if (child !== '') notePeaks(Number(child), peaks)
  }
}

/** Waits until a process has used no processor time for a while, so that its work is not done in another's time. */
export async function waitUntilIdle(pid: number): Promise<void> {
  const untilMs = performance.now() + 60_000
  let quietSinceMs = performance.now()
  let used = cpuTicks(pid)
  while (performance.now() - quietSinceMs < 150) {
    if (performance.now() > untilMs) throw new Error(`process ${pid} does not come to rest`)
    await new Promise((done) => setTimeout(done, 10))
    const now = cpuTicks(pid)
    if (now !== used) quietSinceMs = performance.now()
    used = now
  }
}

/** User and system time of all threads, in ticks of the kernel; 0 where there is no /proc. */
function cpuTicks(pid: number): number {
  const [, rest = ''] = readProc(`/proc/${pid}/stat`).split(') ')
  const fields = rest.split(' ')
  return Number(fields[11] ?? 0) + Number(fields[12] ?? 0)
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // Ended meanwhile, or there is no such thing on this system.
    return ''
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2
}

export interface Size {
  /** Sum of the lengths of all files. */
  readonly bytes: number
  /** What they take in whole blocks. */
  readonly diskBytes: number
}

export function sizeOf(folder: string, isWanted: (path: string) => boolean = () => true): Size {
  let bytes = 0
  let diskBytes = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !isWanted(path)) continue
    const stat = lstatSync(path)
    bytes += stat.size
    diskBytes += stat.blocks * 512
  }
  return { bytes, diskBytes }
}

/** Work that was written and still waits in memory must not be paid for by the next one. */
export function settleDisk(folder: string): void {
  spawnSync('sync', ['-f', folder])
}
