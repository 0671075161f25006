import type { RelPath } from '#path/rel-path.ts'
import { ABSENT, nothingToRecord, type State } from './state.ts'
import { hidesChildren, type Tree } from './tree.ts'

/** One path's difference between two trees. */
export interface TreeChange {
  readonly path: RelPath
  readonly before: State
  readonly after: State
}

/**
 * What a scan that saw `after` has to record against the scan before it, sorted by path. Directories are paths
 * like any other. A path missing from a tree is absent there, unless it lies below something skipped whole
 * in that tree: then nothing is known of it on that side, and the skipped directory's own change is all there is to say.
 */
export function diffTrees(before: Tree, after: Tree): TreeChange[] {
  const changes: TreeChange[] = []
  const hidden = { before: hiddenBelow(before), after: hiddenBelow(after) }
  for (const [path, state] of after) {
    const old = before.get(path) ?? (hidden.before(path) ? null : ABSENT)
    if (old !== null && !nothingToRecord(old, state)) changes.push({ path, before: old, after: state })
  }
  for (const [path, state] of before) {
    if (after.has(path) || state.kind === 'absent' || hidden.after(path)) continue
    changes.push({ path, before: state, after: ABSENT })
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Tells whether a path lies below something that a tree holds as skipped whole. */
function hiddenBelow(tree: Tree): (path: RelPath) => boolean {
  const skipped = new Set<RelPath>()
  for (const [path, state] of tree) if (hidesChildren(state)) skipped.add(path)
  if (skipped.size === 0) return () => false
  return (path) => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (skipped.has(path.slice(0, at))) return true
    }
    return false
  }
}
