import fs from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SeededRandom } from '@turnback/core/testing'
import { type Step, type StepCall, watchSteps } from './fs-steps.ts'

/** What a disk was told, in the order in which it was told. Things are known by their inode. */
type Effect =
  | { readonly do: 'name'; readonly folder: bigint; readonly name: string; readonly node: bigint | null }
  | { readonly do: 'write'; readonly node: bigint; readonly bytes: Buffer }
  | { readonly do: 'mode'; readonly node: bigint; readonly mode: number }
  | { readonly do: 'sync'; readonly node: bigint }
  | { readonly do: 'commit'; readonly copy: string; readonly isDurable: boolean }

interface Node {
  readonly kind: 'file' | 'folder' | 'link'
  readonly mode: number
  readonly bytes: Buffer
  readonly names: ReadonlyMap<string, bigint>
}

/** One moment's tree: nodes by inode. */
type Disk = ReadonlyMap<bigint, Node>

export interface Recording {
  readonly root: bigint
  readonly start: Disk
  readonly effects: readonly Effect[]
  /** Every node that was ever there, as it was when it was made. */
  readonly born: Disk
  /** The log before the first effect. */
  readonly firstCopy: string
}

const DB = ['turnback.db', 'turnback.db-wal']

/** Runs `work` and writes down what it does to the tree and to the log. */
export async function record(
  { root, store, copies }: { readonly root: string; readonly store: string; readonly copies: string },
  work: () => Promise<unknown>,
): Promise<Recording> {
  const recorder = new Recorder(root, store, copies)
  const stop = watchSteps([root], (step, when, call) => recorder.note(step, when, call))
  try {
    await work()
  } finally {
    stop()
  }
  return recorder.recording()
}

class Recorder {
  readonly #root: string
  readonly #store: string
  readonly #copies: string
  readonly #effects: Effect[] = []
  readonly #start: Map<bigint, Node>
  readonly #born: Map<bigint, Node>
  readonly #firstCopy: string
  #isLooking = false
  #db: DatabaseSync | null = null
  #isInTransaction = false
  #moving: bigint | null = null

  constructor(root: string, store: string, copies: string) {
    this.#root = root
    this.#store = store
    this.#copies = copies
    this.#start = readDisk(root)
    this.#born = new Map(this.#start)
    this.#firstCopy = this.#copyLog()
  }

  recording(): Recording {
    const root = fs.lstatSync(this.#root, { bigint: true }).ino
    return { root, start: this.#start, effects: this.#effects, born: this.#born, firstCopy: this.#firstCopy }
  }

  note(step: Step, when: 'before' | 'after', call: StepCall): void {
    // What this does to look is no step of what is watched.
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      if (when === 'before') this.#moving = step.call === 'renameSync' ? inodeOf(step.target) : this.#moving
      else if (step.call === 'exec' || step.call === 'run') this.#noteLog(step, call)
      else this.#noteTree(step, call)
    } finally {
      this.#isLooking = false
    }
  }

  #noteTree({ call, target, isWrite }: Step, { args, pathOf }: StepCall): void {
    if (!isWrite) return
    switch (call) {
      case 'openSync':
      case 'mkdirSync':
      case 'symlinkSync':
        this.#noteNew(target)
        return
      case 'renameSync': {
        this.#effects.push({ ...placeOf(target), do: 'name', node: null })
        const to = pathOf(args[1])
        if (to !== null) this.#effects.push({ ...placeOf(to), do: 'name', node: this.#moving })
        return
      }
      case 'linkSync': {
        const to = pathOf(args[1])
        if (to !== null) this.#effects.push({ ...placeOf(to), do: 'name', node: inodeOf(target) })
        return
      }
      case 'unlinkSync':
      case 'rmdirSync':
        this.#effects.push({ ...placeOf(target), do: 'name', node: null })
        return
      case 'writeSync':
      case 'writevSync':
      case 'ftruncateSync':
        this.#effects.push({ do: 'write', node: inodeOf(target), bytes: fs.readFileSync(target) })
        return
      case 'fchmodSync':
      case 'chmodSync':
        this.#effects.push({ do: 'mode', node: inodeOf(target), mode: fs.lstatSync(target).mode & 0o7777 })
        return
      case 'fsyncSync':
      case 'fsync':
      case 'fdatasyncSync':
      case 'fdatasync':
        this.#effects.push({ do: 'sync', node: inodeOf(target) })
        return
      case 'chownSync':
      case 'fchownSync':
      case 'utimesSync':
        return
      default:
        throw new Error(`the model does not know what ${call} does`)
    }
  }

  #noteNew(target: string): void {
    const node = inodeOf(target)
    if (!this.#born.has(node)) this.#born.set(node, { ...readNode(target), names: new Map() })
    this.#effects.push({ ...placeOf(target), do: 'name', node })
  }

  /** A statement outside of a transaction is one by itself. */
  #noteLog({ call, target }: Step, { args }: StepCall): void {
    if (args[0] instanceof DatabaseSync) this.#db = args[0]
    const word = call === 'exec' ? (/^\s*(\w+)/.exec(target)?.[1] ?? '') : ''
    if (word === 'BEGIN') this.#isInTransaction = true
    if (word === 'COMMIT' || word === 'ROLLBACK') this.#isInTransaction = false
    if (word !== 'COMMIT' && (call !== 'run' || this.#isInTransaction)) return
    // 2 is FULL: the log is on the disk when a commit returns.
    const isDurable = Number(this.#db?.prepare('PRAGMA synchronous').get()?.synchronous) >= 2
    this.#effects.push({ do: 'commit', copy: this.#copyLog(), isDurable })
  }

  #copyLog(): string {
    const copy = join(this.#copies, String(this.#effects.length))
    fs.mkdirSync(copy, { recursive: true })
    for (const name of DB)
      if (fs.existsSync(join(this.#store, name))) fs.copyFileSync(join(this.#store, name), join(copy, name))
    return copy
  }
}

const inodeOf = (path: string): bigint => fs.lstatSync(plain(path), { bigint: true }).ino
/** A folder that is held open is written to under this name. */
const plain = (path: string): string => path.replace(/\/\.$/, '')

function placeOf(path: string): { folder: bigint; name: string } {
  const at = plain(path).lastIndexOf('/')
  return { folder: inodeOf(path.slice(0, at)), name: path.slice(at + 1) }
}

function readNode(path: string): Omit<Node, 'names'> {
  const stat = fs.lstatSync(path)
  const mode = stat.mode & 0o7777
  if (stat.isSymbolicLink()) return { kind: 'link', mode, bytes: fs.readlinkSync(path, 'buffer') }
  if (stat.isDirectory()) return { kind: 'folder', mode, bytes: Buffer.alloc(0) }
  return { kind: 'file', mode, bytes: fs.readFileSync(path) }
}

function readDisk(root: string): Map<bigint, Node> {
  const disk = new Map<bigint, Node>()
  const walk = (path: string): bigint => {
    const node = readNode(path)
    const names = new Map<string, bigint>()
    if (node.kind === 'folder')
      for (const name of fs.readdirSync(path)) names.set(name, walk(`${path}/${name}`))
    const inode = inodeOf(path)
    disk.set(inode, { ...node, names })
    return inode
  }
  walk(root)
  return disk
}

/** What is on the disk after the power went: the tree, and which copy of the log. */
export interface Remains {
  readonly disk: Disk
  readonly copy: string
}

/**
 * What may be left when the power goes after the first `count` effects. What was synced is there. Of what was not, each
 * folder has kept a part of its changes, in their order; each file its old bytes, its new ones or half of them; and the
 * log is as after the last commit that was synced, or a later one.
 */
export function loseSome(
  { start, effects, born, firstCopy }: Recording,
  count: number,
  random: SeededRandom,
): Remains {
  const done = effects.slice(0, count)
  const lastSync = new Map<bigint, number>()
  for (const [at, effect] of done.entries()) if (effect.do === 'sync') lastSync.set(effect.node, at)
  const isSynced = (node: bigint, at: number): boolean => at < (lastSync.get(node) ?? -1)
  const left = new Map<bigint, number>()
  const fate = new Map<bigint, number>()
  const disk = new Map<bigint, Node>()
  for (const [inode, node] of [...born, ...start])
    disk.set(inode, node.kind === 'file' && !start.has(inode) ? { ...node, bytes: Buffer.alloc(0) } : node)
  let copy = firstCopy
  for (const [at, effect] of done.entries()) {
    if (effect.do === 'sync') continue
    if (effect.do === 'commit') {
      if (effect.isDurable || random.chance(50)) copy = effect.copy
      continue
    }
    const inode = effect.do === 'name' ? effect.folder : effect.node
    const node = disk.get(inode)
    if (node === undefined) throw new Error('an effect on nothing')
    if (effect.do === 'name') {
      if (!isSynced(inode, at)) {
        const more = left.get(inode) ?? howMany(done, inode, lastSync.get(inode) ?? -1, random)
        left.set(inode, more - 1)
        if (more <= 0) continue
      }
      const names = new Map(node.names)
      if (effect.node === null) names.delete(effect.name)
      else names.set(effect.name, effect.node)
      disk.set(inode, { ...node, names })
    } else if (effect.do === 'mode') {
      if (isSynced(inode, at) || random.chance(50)) disk.set(inode, { ...node, mode: effect.mode })
    } else {
      const luck = isSynced(inode, at) ? 2 : (fate.get(inode) ?? random.below(3))
      fate.set(inode, luck)
      const { bytes } = effect
      if (luck > 0)
        disk.set(inode, { ...node, bytes: luck === 2 ? bytes : bytes.subarray(0, bytes.length >> 1) })
    }
  }
  return { disk, copy }
}

/** So many of a folder's unsynced changes are there: often none or all, which is what most disks do. */
function howMany(done: readonly Effect[], folder: bigint, since: number, random: SeededRandom): number {
  const all = done.filter(
    (effect, at) => effect.do === 'name' && effect.folder === folder && at > since,
  ).length
  return random.chance(33) ? 0 : random.chance(50) ? all : random.below(all + 1)
}

/** Makes the remains the present: the root stays the folder that it is. */
export function wakeUp(
  { disk, copy }: Remains,
  { root, store }: { readonly root: string; readonly store: string },
): void {
  for (const name of fs.readdirSync(root)) fs.rmSync(join(root, name), { recursive: true, force: true })
  const inode = inodeOf(root)
  const make = (folder: bigint, at: string): void => {
    for (const [name, child] of disk.get(folder)?.names ?? []) {
      const node = disk.get(child)
      const path = join(at, name)
      if (node === undefined) throw new Error(`nothing is known of ${path}`)
      if (node.kind === 'link') fs.symlinkSync(node.bytes, path)
      else if (node.kind === 'file') fs.writeFileSync(path, node.bytes)
      else {
        fs.mkdirSync(path)
        make(child, path)
      }
      if (node.kind !== 'link') fs.chmodSync(path, node.mode)
    }
  }
  make(inode, root)
  for (const name of [...DB, 'turnback.db-shm']) fs.rmSync(join(store, name), { force: true })
  for (const name of fs.readdirSync(copy)) fs.copyFileSync(join(copy, name), join(store, name))
}
