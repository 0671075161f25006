import {
  type BlobId,
  DomainError,
  nameOf,
  parentOf,
  type RelPath,
  type State,
  type WorkspaceId,
} from '@turnback/core'
import type { Workspace, WorkTree } from '#ports.ts'
import { type Folder, findAnchoring, openFolder, PathBlocked } from './anchored.ts'
import { lstatIn, modeOf, openRegular, presentIn, readPiecesOf } from './look.ts'

/** What of the store a look at the tree needs. */
export interface LookBlobs {
  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number }
}

/** Reads single paths of the user's tree without following links. */
export function createWorkTree(blobs: LookBlobs): WorkTree {
  const anchoring = findAnchoring()
  return {
    look(workspace, path, sealed) {
      try {
        using folder = openFolder(workspace, parentOf(path), anchoring)
        return stateIn(folder, path, (fd) => blobs.idOfOpenFile(workspace.id, fd, sealed))
      } catch (error) {
        if (error instanceof PathBlocked) return { kind: 'absent' }
        throw error
      }
    },
    readFile: (workspace, path) => readWhole(workspace, path),
  }

  function readWhole(workspace: Workspace, path: RelPath): Uint8Array {
    using folder = openFolder(workspace, parentOf(path), anchoring)
    using file = openRegular(folder, nameOf(path))
    if (file === null) throw new DomainError('PATH_NOT_FOUND', { path })
    const pieces: Buffer[] = []
    readPiecesOf(file.fd, (piece) => {
      pieces.push(Buffer.from(piece))
    })
    return Buffer.concat(pieces)
  }
}

function stateIn(
  folder: Folder,
  path: RelPath,
  nameBytes: (fd: number) => { blob: BlobId; sizeBytes: number },
): State {
  const present = presentIn(folder, nameOf(path))
  switch (present.kind) {
    case 'absent':
    case 'dir':
    case 'symlink':
      return present
    case 'other':
      return { kind: 'skipped', reason: 'special-file' }
    case 'file': {
      using file = openRegular(folder, nameOf(path))
      const after = file === null ? null : { ...nameBytes(file.fd), mode: modeOf(file.stat) }
      if (file === null || after === null || lstatIn(folder, nameOf(path))?.mtimeNs !== file.stat.mtimeNs)
        return { kind: 'skipped', reason: 'changed-while-reading', sizeBytes: present.sizeBytes }
      return { kind: 'file', ...after }
    }
  }
}
