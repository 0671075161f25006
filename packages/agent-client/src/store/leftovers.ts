import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isThere } from './process.ts'

/** A state file takes a moment to write; one this old was never finished, whoever has its process's number now. */
const OLD_MS = 3_600_000

/** Removes what killed processes left of state files that they were writing (state-file.ts). */
export function removeLeftovers(folders: readonly string[], nowMs: number): void {
  for (const folder of folders) {
    for (const name of readdirSync(folder)) {
      const pid = /^\..+\.(\d+)\.tmp$/.exec(name)?.[1]
      if (pid === undefined) continue
      const file = join(folder, name)
      const isOld = nowMs - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? nowMs) > OLD_MS
      if (isOld || !isThere(Number(pid))) rmSync(file, { force: true })
    }
  }
}
