import { parentOf, type RelPath } from '#path/rel-path.ts'
import { ABSENT, type FileState, type State } from '#tree/state.ts'

/** A tree in memory that minds what a file system minds: parents are directories, full ones are not removed. */
export type MemoryTree = Map<RelPath, State>

/** What somebody does to a tree by hand, by tool or by shell. What cannot be done is passed over. */
export type Edit =
  | { readonly do: 'write'; readonly path: RelPath; readonly line: number; readonly value: number }
  | { readonly do: 'remove'; readonly path: RelPath }
  | { readonly do: 'chmod'; readonly path: RelPath; readonly mode: number }
  | { readonly do: 'link'; readonly path: RelPath; readonly target: string }
  | { readonly do: 'mkdir'; readonly path: RelPath }
  | { readonly do: 'grow'; readonly path: RelPath }
  | { readonly do: 'exclude'; readonly path: RelPath }
  | { readonly do: 'git-init'; readonly path: RelPath }

const LINES = 6

/** A file whose blob id is its text, so that no store is needed. */
export function textFile(text: string, mode = 0o644): FileState {
  return { kind: 'file', blob: `p${text}`, sizeBytes: text.length, mode }
}

export function textOf(blob: string): string {
  return blob.slice(1)
}

export function stateAt(tree: ReadonlyMap<RelPath, State>, path: RelPath): State {
  return tree.get(path) ?? ABSENT
}

function childrenOf(tree: ReadonlyMap<RelPath, State>, folder: RelPath): RelPath[] {
  return [...tree.keys()].filter((path) => path.startsWith(`${folder}/`))
}

/** Carries an edit out. */
export function applyEdit(tree: MemoryTree, edit: Edit): void {
  const now = stateAt(tree, edit.path)
  switch (edit.do) {
    case 'write':
      if (now.kind === 'file') tree.set(edit.path, { ...now, ...writtenOver(now, edit.line, edit.value) })
      else if (now.kind === 'absent' && makeParents(tree, edit.path)) {
        tree.set(edit.path, writtenOver(textFile(freshText()), edit.line, edit.value))
      }
      return
    case 'remove':
      for (const path of [edit.path, ...childrenOf(tree, edit.path)]) tree.delete(path)
      return
    case 'chmod':
      if (now.kind === 'file' || now.kind === 'dir') tree.set(edit.path, { ...now, mode: edit.mode })
      return
    case 'link':
      if (now.kind !== 'dir' && makeParents(tree, edit.path))
        tree.set(edit.path, { kind: 'symlink', target: edit.target })
      return
    case 'mkdir':
      if (now.kind !== 'dir' && makeParents(tree, edit.path))
        tree.set(edit.path, { kind: 'dir', mode: 0o755 })
      return
    case 'grow':
      if (now.kind !== 'dir' && makeParents(tree, edit.path))
        tree.set(edit.path, { kind: 'skipped', reason: 'too-large' })
      return
    case 'exclude':
    case 'git-init':
      if (now.kind === 'dir') hide(tree, edit)
      return
  }
}

/** From now on no scan sees into the directory, or into the repository in it. */
function hide(tree: MemoryTree, { do: how, path }: Edit): void {
  if (how === 'git-init') {
    tree.set(`${path}/.git`, { kind: 'skipped', reason: 'nested-git-dir' })
    return
  }
  for (const below of childrenOf(tree, path)) tree.delete(below)
  tree.set(path, { kind: 'skipped', reason: 'excluded-directory' })
}

function makeParents(tree: MemoryTree, path: RelPath): boolean {
  const missing: RelPath[] = []
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    const state = stateAt(tree, folder)
    if (state.kind === 'absent') missing.push(folder)
    else if (state.kind !== 'dir') return false
  }
  for (const folder of missing) tree.set(folder, { kind: 'dir', mode: 0o755 })
  return true
}

function freshText(): string {
  return Array.from({ length: LINES }, (_, i) => `${i}=0\n`).join('')
}

function writtenOver(file: FileState, line: number, value: number): FileState {
  const lines = textOf(file.blob).split('\n')
  lines[line % LINES] = `${line % LINES}=${value}`
  return textFile(lines.join('\n'), file.mode)
}

/**
 * Takes one path to a state as a file system would.
 * @throws Error when a file system would refuse it, or when a skipped path would be touched
 */
export function writeState(tree: MemoryTree, path: RelPath, to: State): void {
  const now = stateAt(tree, path)
  if (now.kind === 'skipped' || to.kind === 'skipped')
    throw new Error(`${path}: nobody may touch what was skipped`)
  if (to.kind !== 'absent' && parentOf(path) !== '' && stateAt(tree, parentOf(path)).kind !== 'dir') {
    throw new Error(`${path}: its parent is no directory`)
  }
  if (now.kind === 'dir' && to.kind !== 'dir' && childrenOf(tree, path).length > 0) {
    throw new Error(`${path}: directory not empty`)
  }
  if (to.kind === 'absent') tree.delete(path)
  else tree.set(path, to)
}
