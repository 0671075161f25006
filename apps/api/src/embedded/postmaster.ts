import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const POLL_MS = 25
const LEAVE_TIMEOUT_MS = 30_000

/**
 * Makes sure that no postmaster holds `cluster`. One that is on its way out (its service was killed, so it
 * shuts down by itself) is waited for; a stale pid file, whose number may belong to anybody by now, is removed.
 */
export async function waitUntilFree(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid')
  const deadline = Date.now() + LEAVE_TIMEOUT_MS
  for (;;) {
    const pid = readPid(file)
    if (pid === null) return
    if (!isPostmasterOf(pid, cluster)) {
      rmSync(file, { force: true })
      return
    }
    if (Date.now() > deadline)
      throw new Error(
        `Another service is running on this data folder (PostgreSQL ${pid} in ${cluster}): stop it first.`,
      )
    await wait(POLL_MS)
  }
}

function readPid(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return pid > 0 ? pid : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function isPostmasterOf(pid: number, cluster: string): boolean {
  try {
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes(cluster)
  } catch {
    // No such process.
    return false
  }
}
