import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

const KEPT_BYTES = 4 * 1024 * 1024

/**
 * Writes lines of JSON into `<logs>/<name>.log`; beyond 4 MiB the file becomes `<name>.1.log`. A log that cannot be
 * written never stops what it tells of.
 */
export function makeLogFile(logs: string, name: string, now: () => number) {
  const file = join(logs, `${name}.log`)
  return (event: string, facts: Readonly<Record<string, unknown>> = {}): void => {
    const line = `${JSON.stringify({ at: new Date(now()).toISOString(), event, ...facts })}\n`
    try {
      if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > KEPT_BYTES)
        renameSync(file, join(logs, `${name}.1.log`))
      appendFileSync(file, line, { mode: 0o600 })
    } catch {
      // Said above.
    }
  }
}
