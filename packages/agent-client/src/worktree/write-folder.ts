import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
} from 'node:fs'
import type { DirState, State } from '@turnback/core'
import { GIVEN_BACK, NEW_FOLDER_MODE } from '#given-modes.ts'
import { type Anchoring, type Folder, PathBlocked } from './anchored.ts'
import { isSystemError, StepFault } from './fault.ts'
import { holdsIn, type IsNamed } from './look.ts'
import { dropTemp, type OnMoment, type Placing } from './write-file.ts'

/** `O_PATH`: holds a file or directory that may not be opened. Linux only. */
const O_PATH = 0o10000000

export interface Changing {
  readonly folder: Folder
  readonly name: string
  readonly anchoring: Anchoring
  readonly isNamed: IsNamed
  readonly onMoment: OnMoment
}

export function makeFolder(at: Changing, to: DirState): void {
  at.onMoment('mkdir')
  try {
    mkdirSync(at.folder.at(at.name), NEW_FOLDER_MODE)
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw new StepFault('changed')
    throw error
  }
  try {
    at.onMoment('chmod')
    changeMode(at, (isDirectory) => isDirectory, to.mode & GIVEN_BACK.dir)
  } catch (error) {
    dropFolder(at)
    throw error
  }
}

/** Of a folder that could not be made whole nothing is left; unless somebody has put something into it by now. */
export function dropFolder(at: Changing): void {
  try {
    rmdirSync(at.folder.at(at.name))
  } catch (error) {
    if (!isSystemError(error)) throw error
  }
}

/** Changes the mode of a file or directory that is in the state `from`, and nothing else of it. */
export function setMode(at: Changing, from: State, mode: number): void {
  if (!holdsIn(at.folder, at.name, from, at.isNamed)) throw new StepFault('changed')
  at.onMoment('chmod')
  const isFolder = from.kind === 'dir'
  changeMode(
    at,
    (isDirectory) => isDirectory === isFolder,
    mode & (isFolder ? GIVEN_BACK.dir : GIVEN_BACK.file),
  )
}

/** By descriptor, so that a link put under the name meanwhile is not followed. */
function changeMode(at: Changing, isWanted: (isDirectory: boolean) => boolean, mode: number): void {
  const held = at.anchoring === 'descriptor'
  const flags = (held ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK) | constants.O_NOFOLLOW
  const fd = openSync(at.folder.at(at.name), flags)
  try {
    const there = fstatSync(fd)
    if (there.isSymbolicLink() || !isWanted(there.isDirectory())) throw new StepFault('changed')
    if (held) chmodSync(`/proc/self/fd/${fd}`, mode)
    else fchmodSync(fd, mode)
  } finally {
    closeSync(fd)
  }
}

/** True when this user owns the directory and its mode keeps the owner from changing names in it. */
export function isNarrow(folder: Folder): number | null {
  const there = folder.stat()
  const isOurs = process.geteuid === undefined || process.geteuid() === there.uid
  const mode = there.mode & 0o7777
  return isOurs && (mode & 0o300) !== 0o300 ? mode : null
}

export function widen(folder: Folder, mode: number): void {
  chmodSync(folder.self, mode | 0o300)
}

export function narrow(folder: Folder, mode: number): void {
  chmodSync(folder.self, mode)
}

/** True when the directory has the mode that {@link widen} gives. */
export function isWidened(folder: Folder, mode: number): boolean {
  return (folder.stat().mode & 0o7777) === (mode | 0o300)
}

/** A folder of the user's own that is closed to writing is opened for this one piece of work. */
export function orWidened<T>(folder: Folder, work: () => T): { result: T; isWidened: boolean } {
  try {
    return { result: work(), isWidened: false }
  } catch (error) {
    if (!isDenied(error) || isNarrow(folder) === null) throw error
    return { result: whileWidened(folder, work), isWidened: true }
  }
}

export function whileWidened<T>(folder: Folder, work: () => T): T {
  const mode = isNarrow(folder)
  if (mode === null) return work()
  widen(folder, mode)
  try {
    return work()
  } finally {
    narrow(folder, mode)
  }
}

function isDenied(error: unknown): boolean {
  return isSystemError(error) && (error.code === 'EACCES' || error.code === 'EPERM')
}

/** Removes what was begun in a folder that had to be opened for it. @returns false when it is still there */
export function dropIn(at: Pick<Placing, 'folder' | 'temp'>, isWidened: boolean): boolean {
  try {
    return isWidened ? whileWidened(at.folder, () => dropTemp(at)) : dropTemp(at)
  } catch (error) {
    if (!isSystemError(error) && !(error instanceof PathBlocked)) throw error
    return false
  }
}
