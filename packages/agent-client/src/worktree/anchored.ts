import type { Stats } from 'node:fs'
import { closeSync, constants, fstatSync, lstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type RelPath, readName } from '@turnback/core'
import { isSystemError } from './fault.ts'

/**
 * A directory of the user's tree that was reached part by part without following a link. On Linux it is held
 * open, and names in it are reached through `/proc/self/fd/N/name`: whoever swaps a parent for a link in the
 * meantime changes nothing for us. Elsewhere each use checks the parts again, which is safe against accidents
 * and not against a program that races us (see {@link gradeOf}).
 */
export interface Folder extends Disposable {
  /** What file calls take to reach `name` in this directory. @param name in written form */
  at(name: string): Buffer
  /** What file calls take to reach the directory itself. */
  readonly self: Buffer
  stat(): Stats
}

export type BlockedBy = 'missing' | 'not-a-directory' | 'link'

/** A part of the way to a path is not what it must be. */
export class PathBlocked extends Error {
  readonly by: BlockedBy

  constructor(by: BlockedBy) {
    super(`a parent is ${by}`)
    this.name = 'PathBlocked'
    this.by = by
  }
}

export interface TreeRoot {
  /** Absolute, links resolved. */
  readonly root: string
  readonly device: string
  readonly inode: string
}

export type Anchoring = 'descriptor' | 'checked'

/** `O_PATH`: a handle on the place without opening it; needs no right to read it. Linux only, not named by Node. */
const O_PATH = 0o10000000
const HOLD = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
const SLASH = Buffer.from('/')
const SLASH_BYTE = 0x2f

/**
 * How safe writing is from somebody who swaps folders for links meanwhile. `A`: nothing they do matters. `B`: each part
 * of the way is checked before and after, which a program that races us could win. `C`: the same on a system that has no
 * way to open a file without following links.
 */
export type Grade = 'A' | 'B' | 'C'

export function gradeOf(platform: NodeJS.Platform, anchoring: Anchoring): Grade {
  if (platform === 'win32') return 'C'
  return platform === 'linux' && anchoring === 'descriptor' ? 'A' : 'B'
}

/** How this machine can hold a directory. */
export function findAnchoring(): Anchoring {
  if (process.platform !== 'linux') return 'checked'
  try {
    const fd = openSync('/', HOLD)
    try {
      return statSync(`/proc/self/fd/${fd}/.`).isDirectory() ? 'descriptor' : 'checked'
    } finally {
      closeSync(fd)
    }
  } catch {
    // No /proc, or one that does not lead anywhere: a bare container.
    return 'checked'
  }
}

/**
 * Opens a directory below the root. The root must still be the directory that was registered.
 * @param folder written path, or '' for the root
 * @throws PathBlocked
 */
export function openFolder(tree: TreeRoot, folder: RelPath, anchoring: Anchoring): Folder {
  const names = folder === '' ? [] : folder.split('/').map(nameBytes)
  return anchoring === 'descriptor' ? new HeldFolder(tree, names) : new CheckedFolder(tree, names)
}

/** Whoever asks: one name is one step down. */
function nameBytes(written: string): Buffer {
  const bytes = readName(written)
  const isName = bytes !== null && written !== '' && written !== '.' && written !== '..'
  if (!isName || bytes.includes(0) || bytes.includes(SLASH_BYTE)) throw new PathBlocked('missing')
  return Buffer.from(bytes)
}

function confirmRoot(tree: TreeRoot, stat: { dev: bigint; ino: bigint }): void {
  if (String(stat.dev) !== tree.device || String(stat.ino) !== tree.inode) throw new PathBlocked('missing')
}

class HeldFolder implements Folder {
  readonly self: Buffer
  readonly #fd: number

  constructor(tree: TreeRoot, names: readonly Buffer[]) {
    let fd = openPart(tree.root)
    try {
      confirmRoot(tree, fstatSync(fd, { bigint: true }))
      for (const name of names) {
        const next = openPart(Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]))
        closeSync(fd)
        fd = next
      }
    } catch (error) {
      closeSync(fd)
      throw error
    }
    this.#fd = fd
    this.self = Buffer.from(`/proc/self/fd/${fd}/.`)
  }

  at(name: string): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.#fd}/`), nameBytes(name)])
  }

  stat(): Stats {
    return fstatSync(this.#fd)
  }

  [Symbol.dispose](): void {
    try {
      closeSync(this.#fd)
    } catch (error) {
      // It was held and not written to: there is nothing that closing could lose.
      if (!isSystemError(error)) throw error
    }
  }
}

/** Opens one directory without following a link in the last part, and says what is there instead. */
function openPart(path: string | Buffer): number {
  try {
    return openSync(path, HOLD)
  } catch (error) {
    throw blockedBy(error, path) ?? error
  }
}

function blockedBy(error: unknown, path: string | Buffer): PathBlocked | null {
  const code = error instanceof Error && 'code' in error ? error.code : null
  if (code === 'ENOENT') return new PathBlocked('missing')
  if (code !== 'ENOTDIR' && code !== 'ELOOP') return null
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there === undefined) return new PathBlocked('missing')
  return new PathBlocked(there.isSymbolicLink() ? 'link' : 'not-a-directory')
}

class CheckedFolder implements Folder {
  readonly #tree: TreeRoot
  readonly #parts: readonly Buffer[]
  readonly #seen: string

  constructor(tree: TreeRoot, names: readonly Buffer[]) {
    this.#tree = tree
    const parts = [Buffer.from(tree.root)]
    for (const name of names) parts.push(Buffer.concat([parts.at(-1) ?? Buffer.alloc(0), SLASH, name]))
    this.#parts = parts
    this.#seen = this.#walk()
  }

  /** The places of all parts, so that a part that was swapped is noticed. */
  #walk(): string {
    const seen: string[] = []
    for (const [i, part] of this.#parts.entries()) {
      const there = lstatSync(part, { bigint: true, throwIfNoEntry: false })
      if (there === undefined) throw new PathBlocked('missing')
      if (i === 0) confirmRoot(this.#tree, there)
      if (there.isSymbolicLink()) throw new PathBlocked('link')
      if (!there.isDirectory()) throw new PathBlocked('not-a-directory')
      seen.push(`${there.dev}:${there.ino}`)
    }
    return seen.join(' ')
  }

  get self(): Buffer {
    if (this.#walk() !== this.#seen) throw new PathBlocked('missing')
    return this.#parts.at(-1) ?? Buffer.from(this.#tree.root)
  }

  at(name: string): Buffer {
    return Buffer.from(Buffer.concat([this.self, SLASH, nameBytes(name)]))
  }

  stat(): Stats {
    return lstatSync(this.self)
  }

  [Symbol.dispose](): void {
    // Nothing is held.
  }
}

/** The workspace's root as a place on the disk. For tests and for registering. */
export function treeRootOf(root: string): TreeRoot {
  const there = lstatSync(root, { bigint: true })
  return { root: join(root), device: String(there.dev), inode: String(there.ino) }
}
