/*
 * Looks at processes by /proc. Where there is none (macOS) nothing is found, and what stands on it does without.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** A process, told apart from a later one with the same number by when it started. */
export interface Process {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly started: string
}

/** Null when it is gone, also when it is dead and only waits to be fetched by its parent: in a container without an init for ever. */
export function readProcess(pid: number): Process | null {
  if (pid < 1) return null
  try {
    // "pid (name) state parent group …", the 22nd field is the start; the name may hold anything, so we read behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    if (fields[0] === 'Z') return null
    return { pid, parent: Number(fields[1]), group: Number(fields[2]), started: fields[19] ?? '' }
  } catch {
    return null
  }
}

export function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

export function listProcesses(): Process[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []))
}

/** All processes that `root` started, and those that they started, in whatever group they are. */
export function listBelow(root: number): Process[] {
  const all = listProcesses()
  const found = all.filter(({ parent }) => parent === root)
  for (const process of found) found.push(...all.filter(({ parent }) => parent === process.pid))
  return found
}

export function isRunning({ pid, started }: Process): boolean {
  return readProcess(pid)?.started === started
}
