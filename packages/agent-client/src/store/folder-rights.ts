import { accessSync, constants, statSync } from 'node:fs'

/** Who may do what with a folder of ours. */
export interface FolderRights {
  /** Nobody but its owner may look into it. */
  readonly isPrivate: boolean
  /** This process may write there. */
  readonly isWritable: boolean
}

export function readRights(folder: string): FolderRights {
  // Windows keeps rights in lists that a mode says nothing of.
  const isPrivate = process.platform === 'win32' || (statSync(folder).mode & 0o077) === 0
  return { isPrivate, isWritable: isWritable(folder) }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
