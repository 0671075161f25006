import type { Log } from '#ports.ts'

/** Fact: until when nothing is sent and nothing from afar is heard, in milliseconds since 1970, or `resume`. */
const PAUSE_KEY = 'sync.pausedUntil'

/** A pause that ends when it is ended, not by the clock. */
export const UNTIL_RESUMED = 'resume'
export type PauseEnd = number | typeof UNTIL_RESUMED

/** The pause that holds now, or null. Capture goes on meanwhile; what is recorded is sent afterwards. */
export function findPause(log: Log, nowMs: number): PauseEnd | null {
  const fact = log.findFact(PAUSE_KEY)
  if (fact === null) return null
  if (fact === UNTIL_RESUMED) return UNTIL_RESUMED
  return Number(fact) > nowMs ? Number(fact) : null
}

export function setPause(log: Log, end: PauseEnd | null): void {
  log.putFact(PAUSE_KEY, end === null ? null : String(end))
}
