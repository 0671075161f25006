import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * Ends what still runs of a machine that a test had made, told by the home folder that it was given: agents start helpers
 * that outlive them, and a killed agent's tools go on. Linux only.
 */
export async function endLeftovers(home: string): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const pid of findByHome(home)) {
      try {
        process.kill(pid, signal)
      } catch {
        // ended while we looked
      }
    }
    for (let tries = 0; tries < 100 && findByHome(home).length > 0; tries++) await wait(50)
  }
}

function findByHome(home: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // A dead one that waits to be fetched has no environment any more.
      return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)
        ? [Number(name)]
        : []
    } catch {
      return [] // ended while we looked, or not ours
    }
  })
}
