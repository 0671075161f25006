/*
 * The programs between a person's shell and this process: npx, pnpm and the shells they run us by. They do not all pass
 * signals on (npx that is told to end ends alone, and leaves pnpm running), so we look whether they are still there.
 */
import { readFileSync } from 'node:fs'

interface Runner {
  readonly pid: number
  readonly parent: number
  /** Told apart from a later process of the same number by when it started. */
  readonly started: string
}

const RUNNER = /(^|\/|\s)(npm|npx|pnpm|pnpx|corepack|yarn)(\s|$|[@.])|^(\/bin\/)?sh -c /

/** Runners above this process, the nearest first. Empty where there is no /proc to ask. */
export function findRunners(): Runner[] {
  const found: Runner[] = []
  for (let pid = process.ppid; ; ) {
    const runner = readRunner(pid)
    if (runner === null || !RUNNER.test(readCommand(pid))) return found
    found.push(runner)
    pid = runner.parent
  }
}

/** True when each of them runs and is the child of the next one. The shell above them all may go: that is no call to end. */
export function areRunning(runners: readonly Runner[]): boolean {
  return runners.every((runner, place) => {
    const now = readRunner(runner.pid)
    if (now === null || now.started !== runner.started) return false
    return place === runners.length - 1 || now.parent === runner.parent
  })
}

function readRunner(pid: number): Runner | null {
  if (pid <= 1) return null
  try {
    // "pid (name) state parent …", the 22nd field is the start; the name may hold anything, so we read behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    if (fields[0] === 'Z') return null
    return { pid, parent: Number(fields[1]), started: fields[19] ?? '' }
  } catch {
    return null
  }
}

function readCommand(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}
