import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DomainError, equalBytes } from '@turnback/core'
import { SettingsFault } from './json-text.ts'

const LINKS = 40
/** Writing takes a moment; one this old was never finished. */
const UNFINISHED_MS = 60_000

/** A file of settings as it was read. */
export interface SettingsFile {
  /** As it was named. */
  readonly file: string
  /** Where its bytes lie, links followed. */
  readonly real: string
  /** Null when there is none. */
  readonly bytes: Uint8Array | null
}

/** Whether there is such a file or folder. */
export function isThere(path: string): boolean {
  return existsSync(path)
}

/** @throws SETTINGS_REFUSED when it is no file or cannot be read */
export function readSettings(file: string): SettingsFile {
  const real = followLinks(file)
  try {
    const there = statSync(real, { throwIfNoEntry: false })
    if (there !== undefined && !there.isFile()) throw refused(file, 'It is no file.')
    return { file, real, bytes: there === undefined ? null : readFileSync(real) }
  } catch (error) {
    throw asRefused(file, error)
  }
}

/** The text of the bytes, with a byte order mark if there is one. @throws SETTINGS_REFUSED */
export function decodeSettings({ file, bytes }: SettingsFile): string | null {
  if (bytes === null) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw refused(file, 'It is not UTF-8.', { cause: error })
  }
}

/** A place that edits found wrong, as an error of ours. */
export function inFile(file: string, error: unknown): unknown {
  if (!(error instanceof SettingsFault)) return error
  const { line, column, why } = error
  const what = `Line ${line}, column ${column}: ${why}.`
  return refused(file, what, { line, column, why, cause: error })
}

/**
 * Puts other bytes in the file's place, whole or not at all: there is never a half of it. Mode and owner stay.
 * @returns folders that had to be made, outermost first
 * @throws SETTINGS_REFUSED; then it is as it was
 */
export function writeSettings(from: SettingsFile, bytes: Uint8Array): string[] {
  const { file, real } = from
  try {
    assertWritable(from)
    const there = statSync(real, { throwIfNoEntry: false })
    const made = makeFolders(dirname(real))
    removeUnfinished(real)
    const temporary = join(dirname(real), `.${basename(real)}.${randomBytes(6).toString('hex')}.tmp`)
    try {
      writeTemporary(temporary, bytes, there)
      if (!isAsRead(from)) throw refused(file, 'Another program changed it meanwhile.')
      renameSync(temporary, real)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
    syncFolder(dirname(real))
    return made
  } catch (error) {
    throw asRefused(file, error)
  }
}

/** @throws SETTINGS_REFUSED when it is plain beforehand that the file cannot be written, or is not meant to be */
export function assertWritable({ file, real }: SettingsFile): void {
  const there = statSync(real, { throwIfNoEntry: false })
  // For root too, whom the system would let: somebody has marked it.
  if (there !== undefined && (there.mode & 0o222) === 0) throw refused(file, 'It is marked as read-only.')
  let folder = dirname(real)
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw refused(file, `You may not write in ${folder}.`, { cause: error })
  }
}

/** @throws SETTINGS_REFUSED */
export function removeSettings(from: SettingsFile): void {
  try {
    if (!isAsRead(from)) throw refused(from.file, 'Another program changed it meanwhile.')
    rmSync(from.real)
  } catch (error) {
    throw asRefused(from.file, error)
  }
}

/** Those of the folders that are empty. */
export function removeEmptyFolders(folders: readonly string[]): void {
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    try {
      rmdirSync(folder)
    } catch {
      // In use by somebody else by now, or gone.
    }
  }
}

function isAsRead({ real, bytes }: SettingsFile): boolean {
  const there = statSync(real, { throwIfNoEntry: false })
  if (there === undefined || bytes === null) return there === undefined && bytes === null
  return equalBytes(readFileSync(real), bytes)
}

/** What one that was killed while it wrote has left. */
function removeUnfinished(real: string): void {
  const start = `.${basename(real)}.`
  for (const name of readdirSync(dirname(real))) {
    if (!name.startsWith(start) || !/^[0-9a-f]{12}\.tmp$/.test(name.slice(start.length))) continue
    const file = join(dirname(real), name)
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > UNFINISHED_MS) rmSync(file, { force: true })
  }
}

function writeTemporary(file: string, bytes: Uint8Array, like: Stats | undefined): void {
  const fd = openSync(file, 'wx', like === undefined ? 0o666 : 0o600)
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
    if (like !== undefined) {
      const own = statSync(file)
      if (own.uid !== like.uid || own.gid !== like.gid) chownSync(file, like.uid, like.gid)
      fchmodSync(fd, like.mode & 0o7777)
    }
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function makeFolders(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return []
  const above = makeFolders(dirname(folder))
  mkdirSync(folder)
  return [...above, folder]
}

function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const fd = openSync(folder, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Where the bytes are or would be: a link that leads to nothing yet is followed too. */
function followLinks(file: string): string {
  let at = resolve(file)
  for (let links = 0; links < LINKS; links++) {
    const folder = realOrSame(dirname(at))
    at = join(folder, basename(at))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return at
    at = resolve(folder, readlinkSync(at))
  }
  throw refused(file, 'Its links lead in a circle.')
}

function realOrSame(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    // Not there yet; what is above it may be a link all the same.
    const above = dirname(folder)
    return above === folder ? folder : join(realOrSame(above), basename(folder))
  }
}

function asRefused(file: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error
  return refused(file, `The system says ${String(error.code)}.`, { why: String(error.code), cause: error })
}

interface Facts {
  readonly line?: number
  readonly column?: number
  readonly why?: string
  readonly cause?: unknown
}

function refused(file: string, what: string, { cause, ...facts }: Facts = {}): DomainError {
  const message = `The settings in ${file} are left as they are. ${what}`
  return new DomainError('SETTINGS_REFUSED', { file, ...facts }, { message, cause })
}
