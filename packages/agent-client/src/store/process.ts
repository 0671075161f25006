import { readFileSync } from 'node:fs'

/** A process that is told apart from another one with the same number, before and after a reboot. */
export interface ProcessName {
  readonly pid: number
  /** Start time in the kernel's ticks; '' where the system does not say. */
  readonly started: string
  readonly boot: string
}

export function nameThisProcess(): ProcessName {
  return { pid: process.pid, started: startedAt(process.pid), boot: bootId() }
}

export function isAlive(name: ProcessName): boolean {
  if (name.boot !== bootId()) return false
  try {
    process.kill(name.pid, 0)
  } catch (error) {
    // EPERM: it lives and belongs to somebody else.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return startedAt(name.pid) === name.started
}

function startedAt(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold spaces and parentheses; the start time is the 20th field after it.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
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
