import { readdirSync, unlinkSync } from 'node:fs'
import {
  type BlobId,
  DomainError,
  findPathFault,
  isSealed,
  type LostTrait,
  nameOf,
  parentOf,
  type RelPath,
  type RestoreId,
  type State,
  type WorkspaceId,
} from '@turnback/core'
import type { FolderMode, Present, StepOutcome, TreeStep, TreeWriter } from '#write-ports.ts'
import {
  type Anchoring,
  type Folder,
  findAnchoring,
  openFolder,
  PathBlocked,
  type TreeRoot,
} from './anchored.ts'
import { isSystemError, StepFault } from './fault.ts'
import { isOthers } from './keep-owner.ts'
import { holdsIn, type IsNamed, presentIn } from './look.ts'
import { parseTempName, tagOf, writeTempName } from './temp-name.ts'
import {
  type OnMoment,
  type Placing,
  placeFile,
  placeLink,
  putBackAside,
  removeEntry,
  removeFolder,
} from './write-file.ts'
import { isNarrow, isWidened, makeFolder, narrow, setMode, syncFolder, widen } from './write-folder.ts'

/** What of the store the writer needs. */
export interface WriterBlobs {
  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void
  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number }
}

export interface WriterOptions {
  readonly workspace: TreeRoot & { readonly id: WorkspaceId }
  readonly restore: RestoreId
  readonly blobs: WriterBlobs
  readonly random: (bytes: number) => Uint8Array
  readonly anchoring?: Anchoring
  /** Called before each thing that is done to the disk; a test throws, or ends the process, here. */
  readonly onMoment?: (moment: Parameters<OnMoment>[0], path: RelPath) => void
}

/** The only hand that writes into the user's tree: see {@link TreeWriter}. */
export function createTreeWriter(options: WriterOptions): TreeWriter {
  return new Writer(options)
}

class Writer implements TreeWriter {
  readonly #options: WriterOptions
  readonly #anchoring: Anchoring
  readonly #tag: string
  readonly #isNamed: IsNamed

  constructor(options: WriterOptions) {
    this.#options = options
    this.#anchoring = options.anchoring ?? findAnchoring()
    this.#tag = tagOf(options.restore)
    this.#isNamed = (blob, fd) =>
      options.blobs.idOfOpenFile(options.workspace.id, fd, isSealed(blob)).blob === blob
  }

  #open(folder: RelPath): Folder {
    return openFolder(this.#options.workspace, folder, this.#anchoring)
  }

  look(path: RelPath): Present {
    try {
      using folder = this.#open(parentOf(path))
      return presentIn(folder, nameOf(path))
    } catch (error) {
      if (error instanceof PathBlocked) return { kind: 'absent' }
      throw error
    }
  }

  holds(path: RelPath, state: State): boolean {
    try {
      using folder = this.#open(parentOf(path))
      return holdsIn(folder, nameOf(path), state, this.#isNamed)
    } catch (error) {
      if (error instanceof PathBlocked) return state.kind === 'absent'
      if (isSystemError(error)) return false
      throw error
    }
  }

  narrowFolders(paths: readonly RelPath[]): FolderMode[] {
    const narrow: FolderMode[] = []
    for (const path of new Set(paths.map(parentOf))) {
      const mode = this.#narrowMode(path)
      if (mode !== null) narrow.push({ path, mode })
    }
    return narrow
  }

  #narrowMode(path: RelPath): number | null {
    try {
      using folder = this.#open(path)
      return isNarrow(folder)
    } catch (error) {
      if (error instanceof PathBlocked || isSystemError(error)) return null
      throw error
    }
  }

  apply(step: TreeStep, index: number): StepOutcome {
    const lost = new Set<LostTrait['what']>()
    try {
      this.#refuse(step.path)
      using folder = this.#open(parentOf(step.path))
      try {
        this.#carryOut(folder, step, index, lost)
      } catch (error) {
        const mode = isDenied(error) ? isNarrow(folder) : null
        if (mode === null) throw error
        this.#carryOutWidened(folder, mode, step, index, lost)
      }
      return lost.size === 0 ? { ok: true } : { ok: true, lost: [...lost] }
    } catch (error) {
      return outcomeOf(error)
    }
  }

  /** A folder of the user's own that is closed to writing is opened for this one step. */
  #carryOutWidened(
    folder: Folder,
    mode: number,
    step: TreeStep,
    index: number,
    lost: Set<LostTrait['what']>,
  ): void {
    widen(folder, mode)
    try {
      this.#carryOut(folder, step, index, lost)
    } finally {
      narrow(folder, mode)
    }
  }

  /** The last wall: whatever a plan says, such a path is not written. */
  #refuse(path: RelPath): void {
    const platform =
      process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'darwin' : 'posix'
    if (findPathFault(path, platform) !== null || parseTempName(nameOf(path)) !== null)
      throw new DomainError('OUTSIDE_ROOT', { path })
  }

  #carryOut(folder: Folder, { path, from, to }: TreeStep, index: number, lost: Set<LostTrait['what']>): void {
    const moments = this.#options.onMoment
    const onMoment: OnMoment = (moment) => moments?.(moment, path)
    const name = nameOf(path)
    onMoment('begin')
    const changing = { folder, name, anchoring: this.#anchoring, isNamed: this.#isNamed, onMoment }
    const placing = (role: 'new' | 'old'): Placing => ({
      ...changing,
      temp: writeTempName(role, this.#tag, index, this.#options.random(4)),
      onLost: (what) => lost.add(what),
    })
    switch (to.kind) {
      case 'file':
        if (from.kind === 'file' && from.blob === to.blob) setMode(changing, from, to.mode)
        else
          placeFile(placing('new'), from, to, (take) => {
            this.#readBlob(to.blob, take)
          })
        return
      case 'symlink':
        placeLink(placing('new'), from, to)
        return
      case 'dir':
        if (from.kind === 'dir') {
          setMode(changing, from, to.mode)
          return
        }
        if (from.kind !== 'absent') removeEntry(placing('old'), from)
        makeFolder(changing, to)
        if (isOthers(folder)) lost.add('owner')
        return
      case 'absent':
        if (from.kind === 'dir') removeFolder(changing)
        else removeEntry(placing('old'), from)
        return
      case 'skipped':
        throw new StepFault('missing-blob')
    }
  }

  #readBlob(id: BlobId, take: (piece: Uint8Array) => void): void {
    try {
      this.#options.blobs.readPieces(id, take)
    } catch (error) {
      if (
        error instanceof DomainError &&
        (error.code === 'BLOB_NOT_FOUND' || error.code === 'BLOB_HASH_MISMATCH')
      )
        throw new StepFault('missing-blob', { cause: error })
      throw error
    }
  }

  sync(folders: readonly RelPath[]): void {
    for (const path of new Set(folders)) {
      try {
        using folder = this.#open(path)
        syncFolder(folder)
      } catch (error) {
        // A folder that the restore removed has nothing to sync; one that may not be read can not be synced.
        if (!(error instanceof PathBlocked) && !(isSystemError(error) && error.code === 'EACCES')) throw error
      }
    }
  }

  settle(steps: readonly TreeStep[], widened: readonly FolderMode[]): void {
    for (const folder of new Set(steps.map((step) => parentOf(step.path)))) this.#settleFolder(folder, steps)
    for (const { path, mode } of widened) {
      // The mode that stands there may be the one that the restore was to give.
      if (
        steps.some((step) => step.path === path && step.to.kind === 'dir' && step.to.mode === (mode | 0o300))
      )
        continue
      try {
        using folder = this.#open(path)
        if (isWidened(folder, mode)) narrow(folder, mode)
      } catch (error) {
        if (!(error instanceof PathBlocked)) throw error
      }
    }
  }

  #settleFolder(path: RelPath, steps: readonly TreeStep[]): void {
    try {
      using folder = this.#open(path)
      const left = readdirSync(folder.self)
        .map((name) => ({ name, temp: parseTempName(name) }))
        .filter((entry) => entry.temp?.tag === this.#tag)
      if (left.length === 0) return
      const mode = isNarrow(folder)
      if (mode !== null) widen(folder, mode)
      for (const { name, temp } of left)
        this.#settleName(folder, name, steps[temp?.index ?? -1], temp?.role ?? 'old')
      if (mode !== null) narrow(folder, mode)
    } catch (error) {
      if (!(error instanceof PathBlocked)) throw error
    }
  }

  /** Bytes on their way in are in the store; a file on its way out goes only if it is what was to go. */
  #settleName(folder: Folder, temp: string, step: TreeStep | undefined, role: 'new' | 'old'): void {
    const isOurs = role === 'new' || (step !== undefined && holdsIn(folder, temp, step.from, this.#isNamed))
    if (isOurs) unlinkSync(folder.at(temp))
    else if (step !== undefined) putBackAside({ folder, name: nameOf(step.path), temp })
  }
}

function isDenied(error: unknown): boolean {
  return isSystemError(error) && (error.code === 'EACCES' || error.code === 'EPERM')
}

function outcomeOf(error: unknown): StepOutcome {
  if (error instanceof StepFault) return { ok: false, why: error.why }
  if (error instanceof PathBlocked) return { ok: false, why: 'blocked', by: error.by }
  if (isSystemError(error)) return { ok: false, why: 'error', code: error.code, reason: error.message }
  if (error instanceof DomainError)
    return { ok: false, why: 'error', code: error.code, reason: error.message }
  throw error
}
