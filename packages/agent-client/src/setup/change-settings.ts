import { equalBytes } from '@turnback/core'
import type { AgentName } from '#adapters/adapter.ts'
import type { Home } from '#ports.ts'
import { applyEdits, holdsOurs, removeEdits } from './edits.ts'
import { deleteRecord, findRecord, type InstallRecord, sha256, writeRecord } from './install-record.ts'
import {
  assertWritable,
  decodeSettings,
  inFile,
  readSettings,
  removeEmptyFolders,
  removeSettings,
  type SettingsFile,
  writeSettings,
} from './settings-file.ts'
import type { Edit, Level } from './setup.ts'

/** What is to become of one file. Nothing is written before all of an agent's files are planned. */
export interface Change {
  readonly now: SettingsFile
  /** Null: the file goes, or there is none. */
  readonly after: Uint8Array | null
  /** What is to be remembered; null: nothing more. */
  readonly record: InstallRecord | null
  /** Folders that were made for it, and go with it. */
  readonly folders: readonly string[]
}

export interface InstallRequest {
  readonly agent: AgentName
  readonly level: Level
  readonly file: string
  /** What the file is to hold. */
  readonly edits: readonly Edit[]
  /** What any kind of installation puts into it: without these it is as if we had never been there. */
  readonly every: readonly Edit[]
}

/** @throws SETTINGS_REFUSED */
export function planInstall(home: Home, { agent, level, file, edits, every }: InstallRequest): Change {
  const now = readSettings(file)
  const text = decodeSettings(now)
  const known = findRecord(home, now.real)
  const folders = known?.folders ?? []
  try {
    const after = encode(applyEdits(text, edits))
    if (now.bytes !== null && equalBytes(now.bytes, after)) return { now, after, record: known, folders }
    const before =
      known !== null && isUntouched(now, known)
        ? known.before
        : toBase64(withoutOurs(text, now.bytes, every, known))
    assertWritable(now)
    const record: InstallRecord = {
      ...{ format: 1, agent, level, file, real: now.real },
      ...{ before, after: sha256(after), folders: [...folders], at: new Date().toISOString() },
    }
    return { now, after, record, folders }
  } catch (error) {
    throw inFile(file, error)
  }
}

/** Plans that the file is as if we had never been there: to the byte, when nobody else has changed it. @throws SETTINGS_REFUSED */
export function planUninstall(home: Home, file: string, every: readonly Edit[]): Change {
  const now = readSettings(file)
  const text = decodeSettings(now)
  const known = findRecord(home, now.real)
  const folders = known?.folders ?? []
  try {
    const after =
      known !== null && isUntouched(now, known)
        ? fromBase64(known.before)
        : withoutOurs(text, now.bytes, every, known)
    return { now, after, record: null, folders }
  } catch (error) {
    throw inFile(file, error)
  }
}

export function isChange({ now, after }: Change): boolean {
  return !isSame(now.bytes, after)
}

/** All of them, or none: what was done already is taken back. @throws SETTINGS_REFUSED */
export function carryOut(home: Home, changes: readonly Change[]): void {
  const done: Change[] = []
  try {
    for (const change of changes) {
      done.push({ ...change, record: findRecord(home, change.now.real) })
      carryOutOne(home, change)
    }
  } catch (error) {
    for (const change of done.reverse()) takeBack(home, change)
    throw error
  }
  const gone = changes.filter(({ now, after }) => now.bytes !== null && after === null)
  removeEmptyFolders(gone.flatMap(({ folders }) => folders))
}

function carryOutOne(home: Home, change: Change): void {
  const { now, after, record } = change
  if (isChange(change)) {
    // First, because it is what the file can be put back from.
    if (record !== null) writeRecord(home, record)
    if (after === null) removeSettings(now)
    else {
      const made = writeSettings(now, after)
      if (record !== null && made.length > 0) writeRecord(home, { ...record, folders: made })
    }
  }
  if (record === null) deleteRecord(home, now.real)
}

/** Only what is as we wrote it. @param change with the record as it was before */
function takeBack(home: Home, { now: was, after, record }: Change): void {
  const now = readSettings(was.file)
  if (isSame(now.bytes, after) && !isSame(after, was.bytes)) {
    const made = findRecord(home, was.real)?.folders ?? []
    if (was.bytes !== null) writeSettings(now, was.bytes)
    else {
      removeSettings(now)
      removeEmptyFolders(made)
    }
  }
  if (record === null) deleteRecord(home, was.real)
  else writeRecord(home, record)
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : equalBytes(a, b)
}

function isUntouched({ bytes }: SettingsFile, { after }: InstallRecord): boolean {
  return bytes !== null && sha256(bytes) === after
}

function withoutOurs(
  text: string | null,
  bytes: Uint8Array | null,
  every: readonly Edit[],
  known: InstallRecord | null,
): Uint8Array | null {
  if (text === null || !holdsOurs(text, every)) return bytes
  const before = known === null ? null : fromBase64(known.before)
  const left = removeEdits(text, every, before === null ? null : new TextDecoder().decode(before))
  return left === null ? null : encode(left)
}

const encode = (text: string): Uint8Array => Buffer.from(text, 'utf8')

function toBase64(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}

function fromBase64(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text, 'base64')
}
