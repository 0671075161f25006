import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'
import type { Processes, ProcessName } from '#ports.ts'

export type { ProcessName } from '#ports.ts'

const PS_MS = 2000
const MAX_CHAIN = 64

let thisProcess: ProcessName | null = null

export function nameThisProcess(): ProcessName {
  thisProcess ??= { pid: process.pid, started: readStat(process.pid)?.started ?? '', boot: bootId() }
  return thisProcess
}

/** A process that lives; null when it does not, or is none that the system tells of. */
export function nameProcess(pid: number): ProcessName | null {
  const stat = readStat(pid)
  return stat === null || stat.hasEnded ? null : { pid, started: stat.started, boot: bootId() }
}

export function isAlive(name: ProcessName): boolean {
  if (name.boot !== bootId() || !isThere(name.pid)) return false
  const stat = readStat(name.pid)
  return stat === null ? name.started === '' : !stat.hasEnded && stat.started === name.started
}

/**
 * Milliseconds of a clock that all processes since one start of the machine share, that nobody sets, and that stands still
 * while the machine sleeps.
 */
export function uptimeMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

let space: string | null = null

/** What process numbers are good in: the PID namespace, or '' where there is none. A container has one of its own. */
export function thisSpace(): string {
  if (space !== null) return space
  try {
    space = /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    space = ''
  }
  return space
}

/** True for a process that may live, and that nobody here can look for. */
export function isOutOfSight({ boot }: Pick<ProcessName, 'boot'>, itsSpace: string): boolean {
  return itsSpace !== '' && itsSpace !== thisSpace() && boot === bootId()
}

/** Other processes of this machine, as far as the system tells of them. */
export const processes: Processes = {
  boot: bootId,
  find(pid) {
    const stat = isThere(pid) ? findStat(pid) : null
    return stat === null || stat.hasEnded
      ? null
      : { pid, started: stat.started, boot: bootId(), space: thisSpace() }
  },
  isAlive(name) {
    if (hasProc() || name.started === '') return isAlive(name)
    return name.boot === bootId() && findStat(name.pid)?.started === name.started
  },
  isOutOfSight: (agent) => isOutOfSight(agent, agent.space),
  listChain(pid) {
    const chain: { pid: number; command: string }[] = []
    let at = pid
    while (at > 0 && chain.length < MAX_CHAIN && chain.at(-1)?.pid !== at) {
      const stat = findStat(at)
      if (stat === null) break
      chain.push({ pid: at, command: findProgram(at) ?? stat.command })
      at = stat.parent
    }
    return chain
  },
}

/** The file that a process runs: of a script it is the shell, while the system calls the process by the script's name. */
function findProgram(pid: number): string | null {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '')
  } catch {
    // Somebody else's, gone, or a system without it.
    return null
  }
}

/** What the system says of a process. */
interface Stat {
  /** Kernel's ticks since the start of the machine, or the date as `ps` prints it: compared, never read. */
  readonly started: string
  readonly parent: number
  readonly command: string
  /** It ended, and its parent has not taken notice yet. */
  readonly hasEnded: boolean
}

/** Some process of this PID namespace has the number; of a number below zero, some process is in that group. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function findStat(pid: number): Stat | null {
  return hasProc() ? readStat(pid) : askPs(pid)
}

/** What only the kernel tells of a process. */
export interface KernelStat extends Stat {
  readonly group: number
  /** The group that its terminal listens to, or -1. */
  readonly foreground: number
}

/** Null where there is no /proc, or it does not show the process. */
export function readStat(pid: number): KernelStat | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The name in parentheses may hold spaces and parentheses. State, parent … the start time is the 20th field after it.
  const nameEnd = stat.lastIndexOf(')')
  const fields = stat.slice(nameEnd + 2).split(' ')
  return {
    started: fields[19] ?? '',
    parent: Number(fields[1]),
    command: stat.slice(stat.indexOf('(') + 1, nameEnd),
    hasEnded: fields[0] === 'Z' || fields[0] === 'X',
    group: Number(fields[2]),
    foreground: Number(fields[5]),
  }
}

let proc: boolean | null = null

export function hasProc(): boolean {
  proc ??= readStat(process.pid) !== null
  return proc
}

/** The date has five words. */
const PS_LINE = /^\s*(\d+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s+(.+?)\s*$/

/** The same where there is no /proc; a process of its own, so not for what is asked often. */
function askPs(pid: number): Stat | null {
  let line: string
  try {
    line = execFileSync('ps', ['-o', 'ppid=,stat=,lstart=,comm=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: PS_MS,
    })
  } catch {
    // There is no such process, or no `ps`.
    return null
  }
  const [, parent, state, started, path] = PS_LINE.exec(line) ?? []
  if (parent === undefined || state === undefined || started === undefined || path === undefined) return null
  const command = path.slice(path.lastIndexOf('/') + 1)
  return { started, parent: Number(parent), command, hasEnded: state.startsWith('Z') }
}

let boot: string | null = null

function bootId(): string {
  if (boot !== null) return boot
  try {
    boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    boot = ''
  }
  return boot
}
