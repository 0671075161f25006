import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { RelPath, State } from '@turnback/core'
import { type MemoryTree, textFile, textOf } from '@turnback/core/testing'

/** A file of the tests is larger than that only when it is meant not to be captured. */
export const MAX_FILE_BYTES = 2000

/**
 * Files of two paths never have the same bytes, nor links the same text: nothing is taken for moved. The first line
 * holds what makes them so, and a merge leaves it alone.
 */
const headOf = (path: RelPath): string => `# ${path}\n`

/** The model's modes are those of files; a directory has to stay open to its owner. */
const FOLDER_MODES: readonly (readonly [model: number, disk: number])[] = [
  [0o644, 0o745],
  [0o600, 0o700],
]

/** Makes on the disk what a model says that somebody did: files that are there are written in place. */
export function followModel(root: string, before: MemoryTree, after: MemoryTree): void {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  const changed = paths.filter((path) => !isSame(before.get(path), after.get(path)))
  for (const path of changed.toReversed()) {
    const [was, is] = [before.get(path), after.get(path)]
    if (was !== undefined && was.kind !== is?.kind) rmSync(join(root, path), { recursive: true, force: true })
  }
  for (const path of changed) {
    const [was, is] = [before.get(path), after.get(path)]
    if (is !== undefined) put(join(root, path), path, was?.kind === is.kind ? was : null, is)
  }
}

const isSame = (a: State | undefined, b: State | undefined): boolean =>
  JSON.stringify(a) === JSON.stringify(b)

function put(at: string, path: RelPath, was: State | null, is: State): void {
  switch (is.kind) {
    case 'file':
      if (was?.kind !== 'file' || was.blob !== is.blob) writeFileSync(at, headOf(path) + textOf(is.blob))
      chmodSync(at, is.mode)
      return
    case 'dir':
      if (was === null) mkdirSync(at)
      chmodSync(at, FOLDER_MODES.find(([model]) => model === is.mode)?.[1] ?? is.mode)
      return
    case 'symlink':
      if (was !== null) rmSync(at)
      symlinkSync(`${path}:${is.target}`, at)
      return
    case 'skipped':
      if (is.reason === 'nested-git-dir') mkdirSync(at)
      else writeFileSync(at, Buffer.alloc(MAX_FILE_BYTES + 1, 'x'))
      return
    case 'absent':
      return
  }
}

/** What is there, in the model's words. */
export function readModel(root: string): MemoryTree {
  const found: MemoryTree = new Map()
  const walk = (folder: string): void => {
    for (const { name } of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? name : `${folder}/${name}`
      const state = stateOf(join(root, path), path)
      found.set(path, state)
      if (state.kind === 'dir') walk(path)
    }
  }
  walk('')
  return found
}

function stateOf(at: string, path: RelPath): State {
  const stat = lstatSync(at)
  const mode = stat.mode & 0o7777
  if (stat.isSymbolicLink()) {
    const text = readlinkSync(at)
    return {
      kind: 'symlink',
      target: text.startsWith(`${path}:`) ? text.slice(path.length + 1) : `?${text}`,
    }
  }
  if (stat.isDirectory()) {
    if (path.endsWith('/.git')) return { kind: 'skipped', reason: 'nested-git-dir' }
    return { kind: 'dir', mode: FOLDER_MODES.find(([, disk]) => disk === mode)?.[0] ?? mode }
  }
  if (stat.size > MAX_FILE_BYTES) return { kind: 'skipped', reason: 'too-large' }
  const text = readFileSync(at, 'utf8')
  const head = headOf(path)
  return text.startsWith(head) ? textFile(text.slice(head.length), mode) : textFile(`?${text}`, mode)
}

/** Where each file lies and when it was written: what a restore has no work with keeps both. */
export function readPlaces(root: string, tree: MemoryTree): Map<RelPath, string> {
  const places = new Map<RelPath, string>()
  for (const [path, state] of tree) {
    if (state.kind !== 'file') continue
    const { ino, mtimeNs } = lstatSync(join(root, path), { bigint: true })
    places.set(path, `${ino} ${mtimeNs}`)
  }
  return places
}
