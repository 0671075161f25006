import {
  type BlobId,
  DomainError,
  type FileState,
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
import type {
  BegunStep,
  FolderFault,
  FolderMode,
  Present,
  StepOutcome,
  TreeStep,
  TreeWriter,
} from '#write-ports.ts'
import {
  type Anchoring,
  type Folder,
  findAnchoring,
  openFolder,
  PathBlocked,
  type TreeRoot,
} from './anchored.ts'
import { Closer } from './closer.ts'
import { listNames } from './disk-name.ts'
import { isSystemError, StepFault } from './fault.ts'
import { FolderHolder } from './folder-holder.ts'
import { isOthers } from './keep-owner.ts'
import { holdsIn, type IsNamed, presentIn } from './look.ts'
import { settleTree } from './settle-tree.ts'
import { syncAndClose, syncPaths } from './sync-paths.ts'
import { parseTempName, tagOf, writeTempName } from './temp-name.ts'
import {
  type OnMoment,
  type Placing,
  placeFile,
  placeLink,
  placeTemp,
  removeEntry,
  removeFolder,
  writeBeside,
} from './write-file.ts'
import {
  type Changing,
  dropFolder,
  dropIn,
  isNarrow,
  makeFolder,
  orWidened,
  setMode,
  whileWidened,
} from './write-folder.ts'

/** What of the store the writer needs. */
export interface WriterBlobs {
  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void
  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number }
  together?<T>(work: () => T): T
}

export interface WriterOptions {
  readonly workspace: TreeRoot & { readonly id: WorkspaceId }
  readonly restore: RestoreId
  readonly blobs: WriterBlobs
  readonly random: (bytes: number) => Uint8Array
  readonly anchoring?: Anchoring
  /** Names that differ in letter case only are one name here. */
  readonly ignoresCase?: boolean
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
  readonly #closer = new Closer()
  readonly #undropped: { readonly parent: RelPath; readonly temp: string }[] = []
  readonly #holder = new FolderHolder((path) => this.#open(path))

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
      return this.#isTwin(folder, nameOf(path)) ? { kind: 'absent' } : presentIn(folder, nameOf(path))
    } catch (error) {
      if (error instanceof PathBlocked) return { kind: 'absent' }
      throw error
    }
  }

  holds(path: RelPath, state: State): boolean {
    try {
      using folder = this.#holder.open(parentOf(path))
      if (this.#isTwin(folder, nameOf(path))) return state.kind === 'absent'
      return holdsIn(folder, nameOf(path), state, this.#isNamed)
    } catch (error) {
      if (error instanceof PathBlocked) return state.kind === 'absent'
      if (isSystemError(error)) return false
      throw error
    }
  }

  /** On a disk that ignores case: a name that is there only as it is spelled otherwise. */
  #isTwin(folder: Folder, name: string): boolean {
    return this.#options.ignoresCase === true && !listNames(folder.self).includes(name)
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
    const lost: Lost = new Set()
    try {
      this.#refuse(step.path)
      using folder = this.#open(parentOf(step.path))
      orWidened(folder, () => this.#carryOut(folder, step, index, lost))
      return doneWithout(lost)
    } catch (error) {
      return outcomeOf(error)
    }
  }

  begin(step: TreeStep, index: number): BegunStep | StepOutcome | null {
    const { path, from, to } = step
    if (to.kind !== 'file' || (from.kind === 'file' && from.blob === to.blob)) return null
    try {
      this.#refuse(path)
      const folder = this.#holder.open(parentOf(path))
      try {
        const lost: Lost = new Set()
        const at = this.#placing(folder, path, 'new', index, lost)
        at.onMoment('begin')
        const { result: fd, isWidened } = orWidened(folder, () => this.#write(at, from, to))
        return this.#begun(step, index, { at, fd, isWidened, lost })
      } catch (error) {
        folder[Symbol.dispose]()
        throw error
      }
    } catch (error) {
      return outcomeOf(error)
    }
  }

  #begun(step: TreeStep, index: number, { at, fd, isWidened, lost }: Begun): BegunStep {
    let fault: Error | null = null
    const sync = async (): Promise<void> => {
      fault = await syncAndClose(fd)
    }
    const drop = (): void => {
      const parent = parentOf(step.path)
      if (!dropIn(at, isWidened)) this.#undropped.push({ parent, temp: at.temp })
    }
    const place = (): StepOutcome => {
      if (fault !== null) throw fault
      // The way is gone once more: what was a folder of this tree when the bytes were written may be elsewhere by now.
      using folder = this.#open(parentOf(step.path))
      if (!isSamePlace(folder, at.folder)) {
        drop()
        return this.apply(step, index)
      }
      const placed = () => placeTemp({ ...at, folder }, step.from)
      if (isWidened) whileWidened(folder, placed)
      else placed()
      return doneWithout(lost)
    }
    const finish = (): StepOutcome => {
      try {
        return place()
      } catch (error) {
        drop()
        return outcomeOf(error)
      } finally {
        at.folder[Symbol.dispose]()
      }
    }
    const giveUp = (): void => {
      drop()
      at.folder[Symbol.dispose]()
    }
    return { sizeBytes: step.to.kind === 'file' ? step.to.sizeBytes : 0, sync, finish, giveUp }
  }

  /** The last wall: whatever a plan says, such a path is not written. */
  #refuse(path: RelPath): void {
    const platform =
      process.platform === 'win32' ? 'windows' : process.platform === 'darwin' ? 'darwin' : 'posix'
    if (findPathFault(path, platform) !== null || parseTempName(nameOf(path)) !== null)
      throw new DomainError('OUTSIDE_ROOT', { path })
  }

  #placing(
    folder: Folder,
    path: RelPath,
    role: 'new' | 'old',
    index: number,
    lost: Lost,
  ): Placing & Changing {
    const moments = this.#options.onMoment
    return {
      ...{ folder, name: nameOf(path), anchoring: this.#anchoring, isNamed: this.#isNamed },
      onMoment: (moment) => moments?.(moment, path),
      onLost: (what) => lost.add(what),
      letGo: (fd) => this.#closer.close(fd),
      temp: writeTempName(role, this.#tag, index, this.#options.random(4)),
    }
  }

  #write(at: Placing, from: State, to: FileState): number {
    return writeBeside(at, from, to, (take) => this.#readBlob(to.blob, take))
  }

  #carryOut(folder: Folder, { path, from, to }: TreeStep, index: number, lost: Lost): void {
    const at = this.#placing(folder, path, isMade(to) ? 'new' : 'old', index, lost)
    at.onMoment('begin')
    switch (to.kind) {
      case 'file':
        if (from.kind === 'file' && from.blob === to.blob) setMode(at, from, to.mode)
        else placeFile(at, from, to, (take) => this.#readBlob(to.blob, take))
        return
      case 'symlink':
        placeLink(at, from, to)
        return
      case 'dir':
        if (from.kind === 'dir') {
          setMode(at, from, to.mode)
          return
        }
        if (from.kind === 'absent') makeFolder(at, to)
        else removeEntry(at, from, { make: () => makeFolder(at, to), drop: () => dropFolder(at) })
        if (isOthers(folder)) lost.add('owner')
        return
      case 'absent':
        if (from.kind === 'dir') removeFolder(at)
        else removeEntry(at, from)
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

  together<T>(work: () => T): T {
    const { blobs } = this.#options
    return blobs.together === undefined ? work() : blobs.together(work)
  }

  sync(folders: readonly RelPath[], files: readonly RelPath[]): Promise<FolderFault[]> {
    const onSync = (path: RelPath) => this.#options.onMoment?.('sync', path)
    return syncPaths((path) => this.#open(path), { folders, files, onSync })
  }

  rest(until: 'few' | 'all' = 'few'): Promise<void> {
    return until === 'few' ? this.#closer.untilFew() : this.#closer.untilNone()
  }

  close(): void {
    this.#holder.forget()
    for (const { parent, temp } of this.#undropped.splice(0)) this.#dropAgain(parent, temp)
  }

  /** What could not be removed at first, such as in a folder that was closed at that moment. */
  #dropAgain(parent: RelPath, temp: string): void {
    try {
      using folder = this.#open(parent)
      dropIn({ folder, temp }, true)
    } catch (error) {
      if (!(error instanceof PathBlocked) && !isSystemError(error)) throw error
    }
  }

  settle(steps: readonly TreeStep[], widened: readonly FolderMode[]): void {
    const open = (path: RelPath) => this.#open(path)
    settleTree({ open, tag: this.#tag, isNamed: this.#isNamed }, steps, widened)
  }
}

/** The first half of a file that was written. */
interface Begun {
  readonly at: Placing
  readonly fd: number
  /** It took the folder's mode to be widened. */
  readonly isWidened: boolean
  readonly lost: Lost
}

type Lost = Set<LostTrait['what']>

function doneWithout(lost: Lost): StepOutcome {
  return lost.size === 0 ? { ok: true } : { ok: true, lost: [...lost] }
}

/** True for what is written beside its place first. */
function isMade({ kind }: State): boolean {
  return kind === 'file' || kind === 'symlink'
}

function isSamePlace(a: Folder, b: Folder): boolean {
  const [one, other] = [a.stat(), b.stat()]
  return one.dev === other.dev && one.ino === other.ino
}

function outcomeOf(error: unknown): StepOutcome {
  if (error instanceof StepFault) return { ok: false, why: error.why }
  if (error instanceof PathBlocked) return { ok: false, why: 'blocked', by: error.by }
  if (isSystemError(error)) return { ok: false, why: 'error', code: error.code, reason: error.message }
  if (error instanceof DomainError)
    return { ok: false, why: 'error', code: error.code, reason: error.message }
  throw error
}
