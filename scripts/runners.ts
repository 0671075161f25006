/*
 * The programs between a person's shell and this process: npx, pnpm and the shells they run us by. They do not all pass
 * signals on (npx that is told to end ends alone, and leaves pnpm running), so we look whether they are still there.
 */
import { type Process, readCommand, readProcess } from './processes.ts'

const RUNNER = /(^|\/|\s)(npm|npx|pnpm|pnpx|corepack|yarn)(\s|$|[@.])|^(\/bin\/)?sh -c /

/** Runners above this process, the nearest first. */
export function findRunners(): Process[] {
  const found: Process[] = []
  for (let pid = process.ppid; ; ) {
    const runner = pid > 1 ? readProcess(pid) : null
    if (runner === null || !RUNNER.test(readCommand(pid))) return found
    found.push(runner)
    pid = runner.parent
  }
}

/** True when each of them runs and is the child of the next one. The shell above them all may go: that is no call to end. */
export function areRunning(runners: readonly Process[]): boolean {
  return runners.every((runner, place) => {
    const now = readProcess(runner.pid)
    if (now?.started !== runner.started) return false
    return place === runners.length - 1 || now.parent === runner.parent
  })
}
