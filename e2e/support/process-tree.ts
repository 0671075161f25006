import { readdirSync, readFileSync } from 'node:fs'

/** A process, told apart from a later one with the same number by when it started. */
export interface Process {
  readonly pid: number
  readonly parent: number
  readonly started: string
  readonly command: string
}

/** All processes below `root` now, `root` too. Linux only. */
export function listBelow(root: number): Process[] {
  const all = listProcesses()
  const found = all.filter(({ pid }) => pid === root)
  for (const process of found) found.push(...all.filter(({ parent }) => parent === process.pid))
  return found
}

/** Those of the processes that still run. What is dead and waits to be fetched by its parent does not. */
export function stillRunning(processes: readonly Process[]): Process[] {
  const now = new Set(listProcesses().map(({ pid, started }) => `${pid} ${started}`))
  return processes.filter(({ pid, started }) => now.has(`${pid} ${started}`))
}

function listProcesses(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // "pid (name) state parent …", the 22nd field is the start; the name may hold anything, so we read behind it.
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      if (fields[0] === 'Z') return []
      return [{ pid: Number(name), parent: Number(fields[1]), started: fields[19] ?? '', command }]
    } catch {
      return [] // ended while we looked
    }
  })
}
