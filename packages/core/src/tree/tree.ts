import { parentOf, type RelPath } from '#path/rel-path.ts'
import { ABSENT, type State } from './state.ts'

/**
 * The states of the paths of one workspace at one moment. Paths that are not in the map are absent, unless one
 * of their parents is skipped whole: then nothing is known of them.
 */
export type Tree = ReadonlyMap<RelPath, State>

/** True for a state that says of all that lies below the path that nothing is known of it. */
export function hidesChildren(state: State): boolean {
  if (state.kind !== 'skipped') return false
  switch (state.reason) {
    case 'excluded-directory':
    case 'unreadable':
    case 'nested-git-dir':
    case 'nested-workspace':
    case 'budget':
    case 'unsafe-live':
      return true
    case 'too-large':
    case 'changed-while-reading':
    case 'special-file':
      return false
  }
}

/** What a path is in a tree. One below something that was skipped whole is skipped too, not absent. */
export function stateIn(tree: Tree, path: RelPath): State {
  const state = tree.get(path)
  if (state !== undefined) return state
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    const above = tree.get(folder)
    if (above?.kind === 'skipped' && hidesChildren(above)) return { kind: 'skipped', reason: above.reason }
  }
  return ABSENT
}
