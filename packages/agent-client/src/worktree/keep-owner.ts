import type { BigIntStats } from 'node:fs'
import { fchownSync, fstatSync } from 'node:fs'
import { type FileState, isSealed, type State } from '@turnback/core'
import type { Folder } from './anchored.ts'
import { isSystemError } from './fault.ts'
import { lstatIn } from './look.ts'

/** Answers of systems on which this user may not give a file away, or nobody can. */
const NOT_GIVEN = new Set(['EPERM', 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

interface Place {
  readonly folder: Folder
  readonly name: string
  readonly onLost: (what: 'owner') => void
}

/**
 * Gives a file that takes the place of another the same owner and group. To be called before it gets its mode. Whose a
 * file was that is not there any more nobody wrote down: made anew it belongs to who restores it, which is said when
 * its folder is somebody else's. It is not given to the folder's owner: they may never have been let read it. Nor is a
 * secret given to whose file lies there now: they may have put it there to get the secret.
 */
export function keepOwner(place: Place, fd: number, from: State, to: FileState): void {
  const { folder, name, onLost } = place
  const made = fstatSync(fd, { bigint: true })
  if (from.kind !== 'file') {
    sayIfNotTheirs(place, made, from)
    return
  }
  const there = lstatIn(folder, name)
  // What is there now is looked at once more before anything takes its place.
  if (there === null || !there.isFile() || isSameOwner(made, there)) return
  if (isSealed(to.blob)) {
    onLost('owner')
    return
  }
  if (give(fd, there.uid, there.gid)) return
  if (made.gid !== there.gid) give(fd, made.uid, there.gid)
  if (!isSameOwner(fstatSync(fd, { bigint: true }), there)) onLost('owner')
}

/**
 * Says it when something is somebody else's than what it replaces, or than its folder. Links get no other owner: what
 * lies under a name may be another file by the time that it is given away.
 */
export function sayIfNotTheirs({ folder, name, onLost }: Place, made: BigIntStats, from: State): void {
  const there = from.kind === 'absent' ? null : lstatIn(folder, name)
  const isTheirs = there === null ? !isOthers(folder) : isSameOwner(made, there)
  if (!isTheirs) onLost('owner')
}

/** True when what is made in a folder belongs to somebody else than the folder does. */
export function isOthers(folder: Folder): boolean {
  return process.geteuid !== undefined && process.geteuid() !== folder.stat().uid
}

function isSameOwner(a: BigIntStats, b: BigIntStats): boolean {
  return a.uid === b.uid && a.gid === b.gid
}

function give(fd: number, uid: bigint, gid: bigint): boolean {
  try {
    fchownSync(fd, Number(uid), Number(gid))
    return true
  } catch (error) {
    if (isSystemError(error) && NOT_GIVEN.has(error.code)) return false
    throw error
  }
}
