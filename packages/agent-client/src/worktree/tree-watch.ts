import { type FSWatcher, statfsSync, watch } from 'node:fs'
import { basename } from 'node:path'
import { nameOf, parentOf, type RelPath, type WorkspaceId, writeName } from '@turnback/core'
import type {
  ChangedNames,
  ChangedPaths,
  HeardChanges,
  Observation,
  TreeWatches,
  Watching,
} from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'
import type { DiskPath } from './disk-name.ts'
import { WatchOrder } from './watch-order.ts'

/** File systems whose every change passes through this kernel. Elsewhere somebody far away may write unheard. */
const LOCAL: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // xfs
  0x9123683e, // btrfs
  0x01021994, // tmpfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0x794c7630, // overlay
  0xca451a4e, // bcachefs
])
/** Events of folders that are watched no more are not counted; with so many of them gone at once the count means little. */
const MANY_FOLDERS = 500

/** Starts to watch one folder. */
type Watch = (disk: DiskPath, heard: (type: string, name: Buffer | null) => void) => FSWatcher

const watchFolder: Watch = (disk, heard) => watch(disk, { persistent: false, encoding: 'buffer' }, heard)

/**
 * Hears of changes in trees, one watcher for each folder (fs.watch; Linux only: elsewhere the order of events is not
 * proven). Null where that can not be had.
 * @param folder of our own, for what proves that all was heard
 */
export function watchTrees(folder: string, watchOne: Watch = watchFolder): TreeWatches | null {
  if (process.platform !== 'linux') return null
  const order = new WatchOrder(folder)
  const trees = new Map<WorkspaceId, WatchedTree>()
  const listeners: ((workspace: WorkspaceId) => void)[] = []
  const find = (workspace: Workspace): WatchedTree | null => {
    const known = trees.get(workspace.id)
    if (known !== undefined) return known.isOff ? null : known
    if (!isLocal(workspace.root)) return null
    const made = new WatchedTree(order, watchOne, () => {
      for (const tell of listeners) tell(workspace.id)
    })
    trees.set(workspace.id, made)
    return made
  }
  return {
    async hear(workspace) {
      return (await find(workspace)?.hear()) ?? null
    },
    watching: find,
    takeFresh: (workspace) => trees.get(workspace.id)?.takeFresh() ?? null,
    onHeard(listener) {
      listeners.push(listener)
    },
    close() {
      for (const tree of trees.values()) tree.close()
      order.close()
    },
  }
}

function isLocal(root: string): boolean {
  try {
    return LOCAL.has(statfsSync(root).type)
  } catch {
    return false
  }
}

type Names = Map<string, 'changed' | 'replaced'>

/** One tree. What is heard gathers until a look takes it. */
class WatchedTree implements Watching {
  readonly #order: WatchOrder
  readonly #watchOne: Watch
  readonly #watchers = new Map<RelPath, FSWatcher>()
  /** Folders of other file systems: they are looked at each time. */
  readonly #foreign = new Set<RelPath>()
  #device: bigint | null = null
  readonly #onHeard: () => void
  #heard = new Map<RelPath, Names>()
  /** The part of it that {@link takeFresh} has not given out yet. */
  #fresh = new Map<RelPath, Names>()
  /** False until a look at the whole tree has been kept, and again whenever something may not have been heard. */
  #isComplete = false
  #losses = 0
  /** Counts what the watchers of this tree could not tell. */
  #gaps = 0
  #isOff = false

  constructor(order: WatchOrder, watchOne: Watch, onHeard: () => void) {
    this.#onHeard = onHeard
    this.#order = order
    this.#watchOne = watchOne
  }

  /** The kernel allows no more watchers: this tree is looked at whole each time. */
  get isOff(): boolean {
    return this.#isOff
  }

  async hear(): Promise<HeardChanges> {
    const isProven = await this.#order.prove()
    const isComplete = isProven && this.#isComplete && this.#losses === this.#order.losses
    const losses = this.#order.losses
    const gaps = this.#gaps
    const paths = isComplete ? this.#withForeign(this.#heard) : null
    this.#heard = new Map()
    this.#fresh = new Map()
    // Until the look that takes this is kept, nobody else may rely on what is left.
    this.#isComplete = false
    return {
      paths,
      cover: (folder, disk, device, isNew) => this.cover(folder, disk, device, isNew),
      settle: (observation) => {
        this.#closeGone(observation)
        this.#losses = losses
        this.#isComplete = !this.#isOff && this.#gaps === gaps
      },
    }
  }

  takeFresh(): ChangedPaths | null {
    const fresh = this.#fresh
    this.#fresh = new Map()
    return this.#isComplete ? fresh : null
  }

  cover(folder: RelPath, disk: DiskPath, device: bigint, isNew: boolean): void {
    if (this.#isOff) return
    if (folder === '') this.#device = device
    if (device !== this.#device) {
      this.#foreign.add(folder)
      return
    }
    const before = this.#watchers.get(folder)
    if (before !== undefined && !isNew) return
    try {
      // The new one first: when it is the same folder, the kernel's own watch never ends.
      this.#watchers.set(folder, this.#watch(folder, disk))
    } catch (error) {
      if (isToldOtherwise(error)) this.#watchers.delete(folder)
      else this.#turnOff()
    }
    before?.close()
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
    this.#foreign.clear()
  }

  #watch(folder: RelPath, disk: DiskPath): FSWatcher {
    const watcher = this.#watchOne(disk, (type, name) => {
      this.#order.count()
      // Without a name it may have been any. By its own name the root is told to be gone: one that was made anew in its
      // place, with the same number even, is watched by nobody.
      if (name === null || (folder === '' && type === 'rename' && isNameOf(disk, name))) this.#missed()
      else this.#note(folder, writeName(name), type === 'rename' ? 'replaced' : 'changed')
    })
    watcher.on('error', () => this.#missed())
    return watcher
  }

  #missed(): void {
    this.#gaps++
    this.#isComplete = false
  }

  #note(folder: RelPath, name: string, how: 'changed' | 'replaced'): void {
    for (const heard of [this.#heard, this.#fresh]) {
      const names = heard.get(folder)
      if (names === undefined) heard.set(folder, new Map([[name, how]]))
      else if (how === 'replaced' || !names.has(name)) names.set(name, how)
    }
    this.#onHeard()
  }

  #withForeign(heard: ReadonlyMap<RelPath, Names>): ReadonlyMap<RelPath, ChangedNames> {
    if (this.#foreign.size === 0) return heard
    const all = new Map<RelPath, Names>(heard)
    for (const folder of this.#foreign) {
      all.set(parentOf(folder), new Map([...(all.get(parentOf(folder)) ?? []), [nameOf(folder), 'replaced']]))
    }
    return all
  }

  #closeGone({ folders }: Observation): void {
    let closed = 0
    for (const [folder, there] of folders) {
      if (there !== null) continue
      const watcher = this.#watchers.get(folder)
      watcher?.close()
      if (this.#watchers.delete(folder)) closed++
      this.#foreign.delete(folder)
    }
    if (closed > MANY_FOLDERS) this.#order.distrust()
  }

  #turnOff(): void {
    this.#isOff = true
    this.close()
  }
}

/** Events of a folder itself bear its name. A child of the same name makes a look at everything, and nothing worse. */
function isNameOf(disk: DiskPath, name: Buffer): boolean {
  return name.equals(Buffer.from(basename(disk.toString())))
}

/** The folder went away since the walk, which its parent tells; or it is closed to us, and is tried again each time. */
function isToldOtherwise(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES'
}
