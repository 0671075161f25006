import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AGENTS } from '#adapters/adapter.ts'
import type { Home } from '#ports.ts'
import { deleteStateFile, readStateFile, writeStateFile } from '#store/state-file.ts'

const schema = z.object({
  format: z.literal(1),
  agent: z.enum(AGENTS),
  level: z.enum(['user', 'project']),
  /** As the agent names it, and where its bytes lie. */
  file: z.string(),
  real: z.string(),
  /** The bytes before ours came, base64; null when there was no file. Also a backup. */
  before: z.string().nullable(),
  /** SHA-256 of what was written: as long as it is that, nobody else has changed the file. */
  after: z.string(),
  /** Folders that had to be made. */
  folders: z.array(z.string()),
  at: z.string(),
})

/** What was done to one file of settings, with all that is needed to take it back. */
export type InstallRecord = z.infer<typeof schema>

/** Beside our own settings, never beside the agent's, where it could be taken for settings. */
const placeOf = (home: Home) => join(home.config, 'agents')

const fileOf = (home: Home, real: string) =>
  join(placeOf(home), `${sha256(Buffer.from(real)).slice(0, 24)}.json`)

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Null when there is none, or it is damaged: then what is ours is found by its words. */
export function findRecord(home: Home, real: string): InstallRecord | null {
  const read = readStateFile(fileOf(home, real), schema)
  return read.kind === 'there' && read.value.real === real ? read.value : null
}

export function listRecords(home: Home): InstallRecord[] {
  mkdirSync(placeOf(home), { recursive: true, mode: 0o700 })
  return readdirSync(placeOf(home)).flatMap((name) => {
    const read = name.endsWith('.json') ? readStateFile(join(placeOf(home), name), schema) : null
    return read?.kind === 'there' ? [read.value] : []
  })
}

export function writeRecord(home: Home, record: InstallRecord): void {
  writeStateFile(fileOf(home, record.real), record)
}

export function deleteRecord(home: Home, real: string): void {
  deleteStateFile(fileOf(home, real))
}
