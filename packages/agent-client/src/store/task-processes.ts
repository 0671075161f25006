import { readdirSync, readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import { hasProc, isThere, type KernelStat, readStat } from './process.ts'

/** A process that a task left behind, with the name of what it runs. */
export interface LeftProcess {
  readonly pid: number
  readonly command: string
}

/**
 * Whether the terminal on standard input is ours to hand on. In the background of a shell it is not: who took it there
 * would be stopped.
 */
export function ownsTerminal(): boolean {
  if (!isatty(0)) return false
  const own = readStat(process.pid)
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

function listRunning(): { readonly pid: number; readonly stat: KernelStat }[] {
  return readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : null
    return stat === null || stat.hasEnded ? [] : [{ pid: Number(name), stat }]
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
