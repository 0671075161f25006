import type { Stats } from 'node:fs'
import type { RelPath } from '@turnback/core'
import type { Folder } from './anchored.ts'

/** Longer than this no way to a folder is taken for granted. */
const HELD_MS = 10

/** Keeps the folder that was opened last for the next path in it: most of what a small file costs is the way to it. */
export class FolderHolder {
  readonly #open: (path: RelPath) => Folder
  #last: { readonly path: RelPath; readonly shared: Shared; readonly sinceMs: number } | null = null

  constructor(open: (path: RelPath) => Folder) {
    this.#open = open
  }

  open(path: RelPath): Folder {
    const last = this.#last
    if (last?.path === path && performance.now() - last.sinceMs < HELD_MS) return last.shared.share()
    this.forget()
    const shared = new Shared(this.#open(path))
    this.#last = { path, shared, sinceMs: performance.now() }
    return shared.share()
  }

  forget(): void {
    this.#last?.shared[Symbol.dispose]()
    this.#last = null
  }
}

/** A folder that several hold; the last of them closes it. */
class Shared implements Folder {
  readonly #folder: Folder
  #holders = 1

  constructor(folder: Folder) {
    this.#folder = folder
  }

  share(): Folder {
    this.#holders++
    return this
  }

  at(name: string): Buffer {
    return this.#folder.at(name)
  }

  get self(): Buffer {
    return this.#folder.self
  }

  stat(): Stats {
    return this.#folder.stat()
  }

  [Symbol.dispose](): void {
    if (--this.#holders === 0) this.#folder[Symbol.dispose]()
  }
}
