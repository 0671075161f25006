import { readdirSync, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'

/** A process that a task left behind, with the name of what it runs. */
export interface LeftProcess {
  readonly pid: number
  readonly command: string
}

/** What the kernel says of a process where there is a /proc. */
interface Stat {
  readonly command: string
  readonly state: string
  readonly group: number
  /** The group that its terminal listens to, or -1. */
  readonly foreground: number
}

/**
 * Whether the terminal on standard input is ours to hand on. In the background of a shell it is not: who took it there
 * would be stopped.
 */
export function ownsTerminal(): boolean {
  if (!isatty(0)) return false
  const own = readStat('self')
  return own === null || own.foreground === own.group
}

/** Whether anything that still runs is in the process group. */
export function isGroupAlive(group: number): boolean {
  if (!hasProc()) return isThere(-group)
  // What has ended and was not waited for still has its number; in a container without an init for ever.
  return isThere(-group) && listRunning().some(({ stat }) => stat.group === group)
}

/**
 * The processes of a task's try: of its group, and those that left the group but still have its mark in the environment
 * that they were started with.
 * @param mark `NAME=value`
 */
export function listMarked(group: number | null, mark: string): LeftProcess[] {
  if (!hasProc()) return group !== null && isThere(-group) ? [{ pid: group, command: '' }] : []
  return listRunning()
    .filter(({ pid, stat }) => stat.group === group || hasMark(pid, mark))
    .map(({ pid, stat }) => ({ pid, command: stat.command }))
}

/** False when there is no such process or group. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ESRCH' || error.code === 'EPERM'))
      return false
    throw error
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function listRunning(): { readonly pid: number; readonly stat: Stat }[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(name) : null
    return stat === null || stat.state === 'Z' || stat.state === 'X' ? [] : [{ pid: Number(name), stat }]
  })
}

function hasMark(pid: number, mark: string): boolean {
  if (pid === process.pid) return false
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)
  } catch {
    // Somebody else's, or gone.
    return false
  }
}

let proc: boolean | null = null

function hasProc(): boolean {
  proc ??= readStat('self') !== null
  return proc
}

function readStat(pid: string): Stat | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The name in parentheses may hold spaces and parentheses.
  const nameEnd = text.lastIndexOf(')')
  const [state = '', , group, , , foreground] = text.slice(nameEnd + 2).split(' ')
  return {
    command: text.slice(text.indexOf('(') + 1, nameEnd),
    state,
    group: Number(group),
    foreground: Number(foreground),
  }
}
