import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { type FileState, type LostTrait, readName, type State, type SymlinkState } from '@turnback/core'
import { GIVEN_BACK } from '#given-modes.ts'
import type { Folder } from './anchored.ts'
import { isSystemError, StepFault } from './fault.ts'
import { keepOwner, sayIfNotTheirs } from './keep-owner.ts'
import {
  holdsIn,
  type IsNamed,
  lstatIn,
  type OpenFile,
  openAs,
  readLink,
  readPiecesOf,
  sameBytes,
  sameFile,
} from './look.ts'
import { asideOf } from './temp-name.ts'

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
/** Answers of file systems that know no second name for a file. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** The moments at which a run may be cut off or a disk may fail. Tests hook in here. */
export type WriteMoment =
  | 'begin'
  | 'create'
  | 'write'
  | 'sync'
  | 'place'
  | 'link'
  | 'rename'
  | 'aside'
  | 'unlink'
  | 'mkdir'
  | 'rmdir'
  | 'chmod'
export type OnMoment = (moment: WriteMoment) => void

export interface Placing {
  readonly folder: Folder
  readonly name: string
  /** Name beside `name` that nobody else uses. */
  readonly temp: string
  readonly isNamed: IsNamed
  readonly onMoment: OnMoment
  /** Told of what the file that was there has and this one can not. */
  readonly onLost: (what: LostTrait['what']) => void
  /** Closes a file that has no name any more. Freeing what it took may be slow, and nobody waits for it. */
  readonly letGo: (fd: number) => void
}

/** Gives the bytes of the wanted file piece by piece, and throws at the end when they are not what was asked for. */
export type Pieces = (take: (piece: Uint8Array) => void) => void

/**
 * Puts a file in place of what `from` says: temporary file in the same directory, bytes, mode, fsync, another
 * look at what is there, rename. A name that must be free is taken by link(2), which fails when somebody was faster.
 * @throws StepFault
 */
export function placeFile(at: Placing, from: State, to: FileState, pieces: Pieces): void {
  const fd = writeBeside(at, from, to, pieces)
  try {
    fsyncSync(fd)
  } catch (error) {
    dropTemp(at)
    throw error
  } finally {
    closeSync(fd)
  }
  placeTemp(at, from)
}

/** The same for a link's text. */
export function placeLink(at: Placing, from: State, to: SymlinkState): void {
  at.onMoment('create')
  const target = readName(to.target)
  if (target === null) throw new StepFault('missing-blob')
  symlinkSync(Buffer.from(target), at.folder.at(at.temp))
  try {
    const made = lstatIn(at.folder, at.temp)
    if (made !== null) sayIfNotTheirs(at, made, from)
  } catch (error) {
    dropTemp(at)
    throw error
  }
  placeTemp(at, from)
}

/**
 * The first half of {@link placeFile}: bytes and mode, under the temporary name. They are to be synced before the other
 * half, {@link placeTemp}. @returns the temporary file, open
 */
export function writeBeside(at: Placing, from: State, to: FileState, pieces: Pieces): number {
  at.onMoment('create')
  const fd = openSync(at.folder.at(at.temp), CREATE, 0o600)
  try {
    at.onMoment('write')
    let written = 0
    pieces((piece) => {
      written += writeAll(fd, piece)
    })
    if (written !== to.sizeBytes) throw new StepFault('missing-blob')
    keepOwner(at, fd, from, to)
    fchmodSync(fd, to.mode & GIVEN_BACK.file)
    at.onMoment('sync')
    return fd
  } catch (error) {
    dropTemp(at)
    closeSync(fd)
    throw error
  }
}

function writeAll(fd: number, bytes: Uint8Array): number {
  let at = 0
  while (at < bytes.length) at += writeSync(fd, bytes, at)
  return at
}

/** Gives what lies under the temporary name its own, if that is still as `from` says. @throws StepFault */
export function placeTemp(at: Placing, from: State): void {
  try {
    at.onMoment('place')
    switch (from.kind) {
      case 'absent':
        placeOnFreeName(at)
        return
      case 'file':
        placeOverFile(at, from)
        return
      case 'symlink':
        if (!holdsIn(at.folder, at.name, from, at.isNamed)) throw new StepFault('changed')
        renameSync(at.folder.at(at.temp), at.folder.at(at.name))
        return
      case 'dir':
        // No rename goes over a directory, so for a moment the name is free. What is to stand there is on the disk.
        removeFolder(at)
        orPutBack(
          () => placeOnFreeName(at),
          () => makeAgain(at, from.mode),
        )
        return
      case 'skipped':
        throw new StepFault('changed')
    }
  } catch (error) {
    dropTemp(at)
    throw error
  }
}

/**
 * Removes what was begun. The first error of a step is the one that counts, so this one is only told.
 * @returns false when it is still there
 */
export function dropTemp(at: Pick<Placing, 'folder' | 'temp'>): boolean {
  try {
    unlinkSync(at.folder.at(at.temp))
    return true
  } catch (error) {
    if (!isSystemError(error)) throw error
    return error.code === 'ENOENT'
  }
}

/** What was taken away comes back when that was for nothing. Where it can not, the reason for that is what counts. */
function orPutBack(work: () => void, putBack: () => void): void {
  try {
    work()
  } catch (error) {
    putBack()
    throw error
  }
}

function makeAgain(at: Placing, mode: number): void {
  mkdirSync(at.folder.at(at.name), 0o700)
  const fd = openSync(
    at.folder.at(at.name),
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  )
  try {
    fchmodSync(fd, mode & GIVEN_BACK.dir)
  } finally {
    closeSync(fd)
  }
}

/** Removes a directory that is empty. @throws StepFault */
export function removeFolder(at: Pick<Placing, 'folder' | 'name' | 'onMoment'>): void {
  const there = lstatIn(at.folder, at.name)
  if (there === null || !there.isDirectory()) throw new StepFault('changed')
  at.onMoment('rmdir')
  try {
    rmdirSync(at.folder.at(at.name))
  } catch (error) {
    if (isSystemError(error) && (error.code === 'ENOTEMPTY' || error.code === 'EEXIST'))
      throw new StepFault('not-empty')
    throw error
  }
}

function placeOnFreeName(at: Placing): void {
  try {
    linkSync(at.folder.at(at.temp), at.folder.at(at.name))
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') throw new StepFault('changed')
    if (!isSystemError(error) || !NO_LINKS.has(error.code)) throw error
    if (lstatIn(at.folder, at.name) !== null) throw new StepFault('changed')
    renameSync(at.folder.at(at.temp), at.folder.at(at.name))
    return
  }
  at.onMoment('unlink')
  unlinkSync(at.folder.at(at.temp))
}

function placeOverFile(at: Placing, from: FileState): void {
  const old = openAs(at.folder, at.name, from, at.isNamed)
  if (old === null) throw new StepFault('changed')
  try {
    const there = lstatIn(at.folder, at.name)
    if (there === null || !sameFile(old.stat, there)) throw new StepFault('changed')
    at.onMoment('link')
    const aside = linkAside(at)
    at.onMoment('rename')
    try {
      renameSync(at.folder.at(at.temp), at.folder.at(at.name))
    } catch (error) {
      if (aside !== null) dropTemp({ folder: at.folder, temp: aside })
      throw error
    }
    if (old.stat.nlink > 1n) at.onLost('hard-link')
    at.onMoment('unlink')
    orPutBack(
      () => {
        const replaced = aside === null ? fstatSync(old.fd, { bigint: true }) : lstatIn(at.folder, aside)
        if (replaced === null || !sameBytes(old.stat, replaced)) throw new StepFault('changed')
        if (aside !== null) unlinkSync(at.folder.at(aside))
      },
      () => {
        if (aside === null) copyBack(at, old)
        else renameSync(at.folder.at(aside), at.folder.at(at.name))
      },
    )
  } finally {
    at.letGo(old.fd)
  }
}

/**
 * A second name for what stands under the name until it is replaced: what somebody saves into it at the last moment then
 * goes back by a rename, which takes no room and is never half done. @returns null where a file has one name only
 */
function linkAside(at: Placing): string | null {
  const aside = asideOf(at.temp)
  try {
    linkSync(at.folder.at(at.name), at.folder.at(aside))
    return aside
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** Without a second name: bytes that were saved between the last look and the rename are copied back. */
function copyBack(at: Placing, old: OpenFile): void {
  const fd = openSync(at.folder.at(at.temp), CREATE, 0o600)
  try {
    readPiecesOf(old.fd, (piece) => {
      writeAll(fd, piece)
    })
    fchmodSync(fd, Number(old.stat.mode) & GIVEN_BACK.file)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(at.folder.at(at.temp), at.folder.at(at.name))
}

/** What comes in an entry's place, with the way to take it away again. */
interface Successor {
  make(): void
  drop(): void
}

const NOBODY: Successor = { make: () => {}, drop: () => {} }

/**
 * Takes a file or link away: first aside, where it is looked at once more, so that what somebody put under the
 * name at the last moment is put back and not lost.
 * @param next what takes the place; when it can not, or the entry can not go, the entry gets its name back
 * @throws StepFault
 */
export function removeEntry(at: Placing, from: State, next: Successor = NOBODY): void {
  if (from.kind !== 'file' && from.kind !== 'symlink') throw new StepFault('changed')
  const file = from.kind === 'file' ? openAs(at.folder, at.name, from, at.isNamed) : null
  if (from.kind === 'file' ? file === null : !holdsIn(at.folder, at.name, from, at.isNamed))
    throw new StepFault('changed')
  try {
    at.onMoment('aside')
    renameSync(at.folder.at(at.name), at.folder.at(at.temp))
    removeAside(at, from, file, next)
  } finally {
    if (file !== null) at.letGo(file.fd)
  }
}

/** Whatever goes wrong: what is not away for good gets its name back. */
function removeAside(at: Placing, from: State, file: OpenFile | null, next: Successor): void {
  let isMade = false
  orPutBack(
    () => {
      at.onMoment('unlink')
      if (!isWhatWasSeen(at, from, file)) throw new StepFault('changed')
      next.make()
      isMade = true
      unlinkSync(at.folder.at(at.temp))
    },
    () => {
      if (isMade) next.drop()
      putBackAside(at)
    },
  )
}

function isWhatWasSeen(at: Placing, from: State, file: OpenFile | null): boolean {
  const aside = lstatIn(at.folder, at.temp)
  if (aside === null) return false
  if (file !== null) return sameBytes(file.stat, aside)
  return from.kind === 'symlink' && aside.isSymbolicLink() && readLink(at.folder, at.temp) === from.target
}

/** Gives what was moved aside its name back, unless the name was taken again meanwhile: then both stay. */
export function putBackAside(at: Pick<Placing, 'folder' | 'name' | 'temp'>): void {
  try {
    linkSync(at.folder.at(at.temp), at.folder.at(at.name))
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return
    if (!isSystemError(error) || !NO_LINKS.has(error.code)) throw error
    if (lstatIn(at.folder, at.name) === null) renameSync(at.folder.at(at.temp), at.folder.at(at.name))
    return
  }
  unlinkSync(at.folder.at(at.temp))
}
