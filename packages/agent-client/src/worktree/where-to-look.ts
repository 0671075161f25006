import type { BigIntStats } from 'node:fs'
import { nameOf, parentOf, type RelPath } from '@turnback/core'
import type { ChangedNames, ChangedPaths, KnownFolder, KnownTree } from '#capture-ports.ts'
import { type DiskPath, joinName, joinPath } from './disk-name.ts'

/** A folder that is to be looked into, with the names that count. */
export interface Place {
  readonly folder: RelPath
  readonly disk: DiskPath
  readonly stat: BigIntStats
  readonly names: ChangedNames
}

/**
 * Turns what is said to have changed into folders that can be walked, parents first. A folder that is no longer the one
 * that is known is looked at from its parent, with all below it; so is one below a folder that may only hold so much.
 */
export function placesToLook(
  root: string,
  known: KnownTree,
  changed: ChangedPaths,
  lstat: (at: DiskPath) => BigIntStats | null,
): Place[] {
  const wanted = new Map<RelPath, ChangedNames>()
  const found = new Map<RelPath, { disk: DiskPath; stat: BigIntStats } | null>()

  /** Where a known folder is, or null when it is not there any more: then its parent is looked at instead. */
  const find = (folder: RelPath): { disk: DiskPath; stat: BigIntStats } | null => {
    const before = found.get(folder)
    if (before !== undefined) return before
    const parent = folder === '' ? null : find(parentOf(folder))
    const place = findBelow(folder, parent)
    found.set(folder, place)
    if (place === null && parent !== null) want(parentOf(folder), new Map([[nameOf(folder), 'replaced']]))
    return place
  }

  const findBelow = (folder: RelPath, parent: { disk: DiskPath } | null) => {
    if (folder !== '' && parent === null) return null
    const disk = parent === null ? root : joinName(parent.disk, nameOf(folder))
    const stat = lstat(disk)
    const before = known.get(folder)
    return stat?.isDirectory() && before !== undefined && isSamePlace(before, stat) ? { disk, stat } : null
  }

  const want = (folder: RelPath, names: ChangedNames) => {
    wanted.set(folder, unite(wanted.get(folder), names))
  }

  for (const [folder, names] of changed) {
    if (!known.has(folder) || find(folder) === null) continue
    const bounded = outermostWatched(folder, known)
    if (bounded === null) want(folder, names)
    else want(parentOf(bounded), new Map([[nameOf(bounded), 'replaced']]))
  }
  return [...wanted]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([folder, names]) => {
      const place = find(folder)
      return place === null ? [] : [{ folder, names, ...place }]
    })
}

/** All known folders from this one downwards. */
export function* knownBelow(known: KnownTree, folder: RelPath): Generator<RelPath> {
  const found = known.get(folder)
  if (found === undefined) return
  yield folder
  for (const [name, { state }] of found.entries)
    if (state.kind === 'dir') yield* knownBelow(known, joinPath(folder, name))
}

/** By device and inode. A folder without a stamp can not be compared. */
function isSamePlace(known: KnownFolder, stat: BigIntStats): boolean {
  return known.stamp === '' || known.stamp.startsWith(`${stat.dev}:${stat.ino}:`)
}

function unite(a: ChangedNames | undefined, b: ChangedNames): ChangedNames {
  if (a === undefined) return b
  // What is replaced must stay so: `all` says less of its names.
  if (a === 'all') return b === 'all' ? a : new Map([[ALL, 'changed'], ...b])
  if (b === 'all') return new Map([[ALL, 'changed'], ...a])
  const all = new Map(a)
  for (const [name, how] of b) if (how === 'replaced' || !all.has(name)) all.set(name, how)
  return all
}

/** Stands among names for all the others; no name holds a slash. */
const ALL = '/'

/** How much of a name is to be looked at; undefined for one that is as it is known. */
export function howChanged(names: ChangedNames, name: string): 'changed' | 'replaced' | undefined {
  return names === 'all' ? 'changed' : (names.get(name) ?? names.get(ALL))
}

/** A folder with an ambiguous name is captured as long as it stays small: that can only be told by walking all of it. */
function outermostWatched(folder: RelPath, known: KnownTree): RelPath | null {
  let outermost: RelPath | null = null
  for (let at = folder; at !== ''; at = parentOf(at))
    if (known.get(parentOf(at))?.entries.get(nameOf(at))?.watched === true) outermost = at
  return outermost
}
