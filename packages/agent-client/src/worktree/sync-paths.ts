import { closeSync, constants, fsync, openSync } from 'node:fs'
import { nameOf, parentOf, type RelPath } from '@turnback/core'
import type { FolderFault } from '#write-ports.ts'
import { type Folder, PathBlocked } from './anchored.ts'
import { isSystemError } from './fault.ts'

/** Folders that are made durable at once: more wait for the same threads. */
const SIDE_BY_SIDE = 8
/** What may not be read can not be synced, nor what is gone or another thing by now, of which reading back tells; some file systems sync no folder at all, and keep names in other ways. */
const CAN_NOT_SYNC = new Set(['EACCES', 'ENOENT', 'ELOOP', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

type Open = (folder: RelPath) => Folder

/** See {@link TreeWriter.sync}. */
export async function syncPaths(
  open: Open,
  what: {
    readonly folders: readonly RelPath[]
    readonly files: readonly RelPath[]
    readonly onSync: (path: RelPath) => void
  },
): Promise<FolderFault[]> {
  const left = [
    ...[...new Set(what.folders)].map((path) => ({ path, isFolder: true })),
    ...what.files.map((path) => ({ path, isFolder: false })),
  ].reverse()
  const faults: FolderFault[] = []
  const some = Array.from({ length: SIDE_BY_SIDE }, async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { path, isFolder } = next
      const fault = await findFault(async () => {
        using folder = open(isFolder ? path : parentOf(path))
        what.onSync(path)
        await (isFolder ? syncFolder(folder) : syncFile(folder, nameOf(path)))
      })
      if (fault !== null) faults.push({ path, ...fault })
    }
  })
  await Promise.all(some)
  return faults
}

async function findFault(work: () => Promise<void>): Promise<Omit<FolderFault, 'path'> | null> {
  try {
    await work()
    return null
  } catch (error) {
    // What the restore removed has nothing to sync.
    if (error instanceof PathBlocked) return null
    if (!isSystemError(error)) throw error
    return CAN_NOT_SYNC.has(error.code) ? null : { code: error.code, reason: error.message }
  }
}

/** Makes the names in a directory durable. */
async function syncFolder(folder: Folder): Promise<void> {
  const fault = await syncAndClose(openSync(folder.self, constants.O_RDONLY))
  if (fault !== null) throw fault
}

/** Makes a file's mode durable, whatever its name leads to by now; a link is none. */
async function syncFile(folder: Folder, name: string): Promise<void> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const fault = await syncAndClose(openSync(folder.at(name), flags))
  if (fault !== null) throw fault
}

/** @returns what the system said, or null. Nothing is thrown where nobody would take it. */
export function syncAndClose(fd: number): Promise<Error | null> {
  return new Promise((done) => {
    fsync(fd, (error) => {
      const closing = findCloseFault(fd)
      done(error ?? closing)
    })
  })
}

/** Closes a file where nobody could catch what that throws. */
function findCloseFault(fd: number): Error | null {
  try {
    closeSync(fd)
    return null
  } catch (error) {
    if (!isSystemError(error)) throw error
    return error
  }
}
