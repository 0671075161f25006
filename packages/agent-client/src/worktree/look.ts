import type { BigIntStats } from 'node:fs'
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { type FileState, type State, writeName } from '@turnback/core'
import type { Present } from '#write-ports.ts'
import type { Folder } from './anchored.ts'

const MODE_BITS = 0o7777n
/** A FIFO must not hang us, and a link must not lead us. */
const READ_THIS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Whether an open file's bytes, from the beginning to the end, are what a blob's id names. */
export type IsNamed = (blob: FileState['blob'], fd: number) => boolean

/** A regular file held open, with its facts as they were while its bytes were looked at. */
export interface OpenFile extends Disposable {
  readonly fd: number
  readonly stat: BigIntStats
}

export function modeOf(stat: BigIntStats): number {
  return Number(stat.mode & MODE_BITS)
}

export function lstatIn(folder: Folder, name: string): BigIntStats | null {
  return lstatSync(folder.at(name), { bigint: true, throwIfNoEntry: false }) ?? null
}

export function readLink(folder: Folder, name: string): string {
  return writeName(readlinkSync(folder.at(name), 'buffer'))
}

export function presentIn(folder: Folder, name: string): Present {
  const there = lstatIn(folder, name)
  if (there === null) return { kind: 'absent' }
  if (there.isSymbolicLink()) return { kind: 'symlink', target: readLink(folder, name) }
  if (there.isDirectory()) return { kind: 'dir', mode: modeOf(there) }
  if (there.isFile()) return { kind: 'file', sizeBytes: Number(there.size), mode: modeOf(there) }
  return { kind: 'other' }
}

/** Opens a regular file, or gives null when it is none. The last part of the way is not followed either. */
export function openRegular(folder: Folder, name: string): OpenFile | null {
  const there = lstatIn(folder, name)
  return there?.isFile() === true ? openThis(folder, name) : null
}

/** The same for what was a regular file a moment ago. */
function openThis(folder: Folder, name: string): OpenFile | null {
  const fd = openSync(folder.at(name), READ_THIS)
  const stat = fstatSync(fd, { bigint: true })
  if (stat.isFile()) return { fd, stat, [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}

/** Calls `take` with the bytes of an open file, piece by piece, from its beginning. */
export function readPiecesOf(fd: number, take: (piece: Uint8Array) => void): void {
  const piece = new Uint8Array(1 << 20)
  for (let at = 0; ; ) {
    const got = readSync(fd, piece, 0, piece.length, at)
    if (got === 0) return
    take(piece.subarray(0, got))
    at += got
  }
}

/** True when nobody wrote to the file, moved another over it or changed its mode between two looks. */
export function sameFile(a: BigIntStats, b: BigIntStats): boolean {
  return sameBytes(a, b) && a.ctimeNs === b.ctimeNs && a.mode === b.mode
}

/** The same file with the same bytes, as far as its times tell. A rename of it changes nothing here. */
export function sameBytes(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs
}

/** Opens a file that is in exactly this state, or gives null. */
export function openAs(folder: Folder, name: string, state: FileState, isNamed: IsNamed): OpenFile | null {
  const there = lstatIn(folder, name)
  if (there === null || !there.isFile()) return null
  if (there.size !== BigInt(state.sizeBytes) || modeOf(there) !== state.mode) return null
  const file = openThis(folder, name)
  if (file === null) return null
  const holds = sameFile(there, file.stat) && isNamed(state.blob, file.fd)
  if (holds && sameFile(file.stat, fstatSync(file.fd, { bigint: true }))) return file
  file[Symbol.dispose]()
  return null
}

/** True when the disk has exactly this state. A `skipped` state is nothing that can be compared. */
export function holdsIn(folder: Folder, name: string, state: State, isNamed: IsNamed): boolean {
  switch (state.kind) {
    case 'absent':
      return lstatIn(folder, name) === null
    case 'skipped':
      return false
    case 'symlink': {
      const there = lstatIn(folder, name)
      return there?.isSymbolicLink() === true && readLink(folder, name) === state.target
    }
    case 'dir': {
      const there = lstatIn(folder, name)
      return there?.isDirectory() === true && modeOf(there) === state.mode
    }
    case 'file': {
      using file = openAs(folder, name, state, isNamed)
      return file !== null
    }
  }
}
