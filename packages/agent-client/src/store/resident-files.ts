import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import { isAlive, nameThisProcess } from './process.ts'
import { deleteStateFile, readStateFile, writeStateFile } from './state-file.ts'

/**
 * The resident client's own files, beside the store. That there is only one resident is held by a lock of the
 * operating system, taken through SQLite: it ends with its process, however that ends, so it is never stale.
 */
export interface ResidentLock {
  release(): void
}

const SQLITE_BUSY = 5

/** Null when another process holds it. */
export function takeResidentLock(store: string): ResidentLock | null {
  const db = new DatabaseSync(join(store, 'resident.lock'), { timeout: 0 })
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw error
  }
  return { release: () => db.close() }
}

/** What the resident says of itself to other commands. `link`: by which way it hears from the service. */
const residentSchema = z.object({
  process: z.object({ pid: z.int(), started: z.string(), boot: z.string() }),
  startedAt: z.string(),
  version: z.string(),
  /** Whether its code is not what lies on the disk any more. */
  isOutdated: z.boolean(),
  /** Whether commands reach it without Node, and whether it hears of changes in trees. */
  serves: z.boolean(),
  watches: z.boolean(),
  link: z.enum(['socket', 'poll', 'down', 'paused', 'not-logged-in']),
  server: z.string().nullable(),
  since: z.string(),
})
export type ResidentFacts = z.infer<typeof residentSchema>
export type LinkState = ResidentFacts['link']

const fileOf = (store: string) => join(store, 'resident.json')

export function writeResidentFacts(store: string, facts: Omit<ResidentFacts, 'process'>): void {
  writeStateFile(fileOf(store), { process: nameThisProcess(), ...facts })
}

export function deleteResidentFacts(store: string): void {
  deleteStateFile(fileOf(store))
}

/** The resident that lives now, or null. What a dead one left behind counts for nothing. */
export function findResident(store: string): ResidentFacts | null {
  const file = readStateFile(fileOf(store), residentSchema)
  return file.kind === 'there' && isAlive(file.value.process) ? file.value : null
}

/**
 * Calls `changed` soon after anything was written in the folder; once for many writes close together. Names that
 * `ignore` knows are passed over.
 */
export function watchFolder(
  folder: string,
  ignore: (name: string) => boolean,
  changed: () => void,
): { close(): void } {
  let timer: NodeJS.Timeout | null = null
  const onEvent = (_: string, name: string | null) => {
    if (name !== null && ignore(name)) return
    timer ??= setTimeout(() => {
      timer = null
      changed()
    }, SETTLE_MS)
  }
  const watcher: FSWatcher = watch(folder, { persistent: false }, onEvent)
  // A watcher that fails costs time only: whoever uses it looks again by itself now and then.
  watcher.on('error', () => watcher.close())
  return {
    close() {
      watcher.close()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

const SETTLE_MS = 30
