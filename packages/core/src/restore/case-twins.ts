import { foldKey } from '#path/fold.ts'
import { parentOf, type RelPath } from '#path/rel-path.ts'
import { stateIn, type Tree } from '#tree/tree.ts'
import type { Decision, Keep, Write } from './decision.ts'
import { keepInstead } from './surroundings.ts'

/**
 * On a disk that ignores letter case two paths of the log can be one place. A rename of case only is one that goes and
 * one that comes: `orderSteps` has the going one make room. Where the other stays, for whatever reason, neither is
 * touched: what comes would be written over what stays, and what goes would go for nothing.
 */
export function keepTwinsApart(decisions: readonly Decision[], tree: Tree): Decision[] {
  const writes = new Map<RelPath, Write>()
  for (const decision of decisions) if (decision.act === 'write') writes.set(decision.path, decision)
  const twins = findTwins(writes, tree)
  if (twins.size === 0) return [...decisions]
  const kept = new Map<RelPath, Keep>()
  const keep = (path: RelPath, reason: 'attributes' | 'directory-not-empty'): void => {
    const write = writes.get(path)
    if (write === undefined) return
    writes.delete(path)
    kept.set(path, keepInstead(write, reason))
  }
  const stays = (path: RelPath): boolean => {
    const to = writes.get(path)?.to ?? stateIn(tree, path)
    return to.kind !== 'absent'
  }
  for (let before = -1; before !== kept.size; ) {
    before = kept.size
    for (const { path } of [...writes.values()].filter(isComing)) {
      if (!wayOf(path).some((at) => (twins.get(at) ?? []).some(stays))) continue
      keep(path, 'attributes')
      for (const twin of twins.get(path) ?? []) keep(twin, 'attributes')
    }
    for (const path of kept.keys())
      for (const folder of wayOf(path))
        if (writes.get(folder)?.to.kind === 'absent') keep(folder, 'directory-not-empty')
  }
  return decisions.map((decision) => kept.get(decision.path) ?? decision)
}

function isComing({ from, to }: Pick<Write, 'from' | 'to'>): boolean {
  return from.kind === 'absent' && to.kind !== 'absent'
}

/** The path and all folders above it. */
function wayOf(path: RelPath): RelPath[] {
  const way: RelPath[] = []
  for (let at = path; at !== ''; at = parentOf(at)) way.push(at)
  return way
}

/** Of each place that is to come, with the folders above it: the paths that are there now and are the same place. */
function findTwins(writes: ReadonlyMap<RelPath, Write>, tree: Tree): Map<RelPath, RelPath[]> {
  const byKey = new Map<string, RelPath[]>()
  for (const path of tree.keys()) {
    const key = foldKey(path)
    const same = byKey.get(key)
    if (same === undefined) byKey.set(key, [path])
    else same.push(path)
  }
  const twins = new Map<RelPath, RelPath[]>()
  for (const write of writes.values()) {
    if (!isComing(write)) continue
    for (const at of wayOf(write.path)) {
      const same = (byKey.get(foldKey(at)) ?? []).filter((path) => path !== at)
      if (same.length > 0) twins.set(at, same)
    }
  }
  return twins
}
