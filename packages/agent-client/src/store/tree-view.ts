import { nameOf, parentOf, type RelPath, type State, type Tree } from '@turnback/core'
import type { KnownTree } from '#capture-ports.ts'

/**
 * The known tree as core takes it. Nothing is copied but the list of folders: making one map of a whole tree takes longer
 * than most of what is asked of it. Folders are replaced and never changed, so this stays as it was made.
 */
export class TreeView implements Tree {
  readonly #folders: KnownTree

  constructor(known: KnownTree) {
    this.#folders = new Map(known)
  }

  get(path: RelPath): State | undefined {
    return this.#folders.get(parentOf(path))?.entries.get(nameOf(path))?.state
  }

  has(path: RelPath): boolean {
    return this.#folders.get(parentOf(path))?.entries.has(nameOf(path)) ?? false
  }

  get size(): number {
    let size = 0
    for (const { entries } of this.#folders.values()) size += entries.size
    return size
  }

  *entries(): Generator<[RelPath, State], undefined> {
    for (const [folder, { entries }] of this.#folders)
      for (const [name, { state }] of entries) yield [folder === '' ? name : `${folder}/${name}`, state]
  }

  *keys(): Generator<RelPath, undefined> {
    for (const [path] of this.entries()) yield path
  }

  *values(): Generator<State, undefined> {
    for (const [, state] of this.entries()) yield state
  }

  [Symbol.iterator](): Generator<[RelPath, State], undefined> {
    return this.entries()
  }

  forEach(take: (state: State, path: RelPath, tree: Tree) => void): void {
    for (const [path, state] of this.entries()) take(state, path, this)
  }
}
