import type { LiveStacks, Stack } from '#history/stack.ts'
import { nameOf, parentOf, type RelPath } from '#path/rel-path.ts'
import { isGitDisguise } from '#path/validate.ts'
import { ABSENT, type DirState, type State } from '#tree/state.ts'
import { stateIn, type Tree } from '#tree/tree.ts'
import type { Decision, Keep, Write } from './decision.ts'
import type { KeptReason } from './report.ts'

const FALLBACK_DIRECTORY_MODE = 0o755

/**
 * Keeps whole every directory in which the undone work made a `.git`: the user may have work in that
 * repository that no scan saw. The workspace's own root is no such directory.
 */
export function keepNewRepositories(decisions: readonly Decision[]): Decision[] {
  const roots = new Set<RelPath>()
  for (const decision of decisions) if (isNewRepository(decision)) roots.add(parentOf(decision.path))
  if (roots.size === 0) return [...decisions]
  roots.delete('')
  return decisions.map((decision): Decision => {
    const { act, path, from } = decision
    if (isNewRepository(decision)) return { act: 'skip', path, from, reason: 'nested-git-dir' }
    return act === 'write' && isInAny(path, roots) ? keepInstead(decision, 'not-captured') : decision
  })
}

function isNewRepository(decision: Decision): boolean {
  if (!isGitDisguise(nameOf(decision.path))) return false
  return decision.act === 'keep' && decision.from.kind === 'skipped' && decision.wanted.kind === 'absent'
}

function isInAny(path: RelPath, folders: ReadonlySet<RelPath>): boolean {
  for (let at = path; at !== ''; at = parentOf(at)) if (folders.has(at)) return true
  return false
}

export function keepInstead(decision: Write, reason: KeptReason): Keep {
  const { path, from, to } = decision
  return { act: 'keep', path, from, wanted: to, kept: { path, reason }, isConflict: false }
}

/**
 * Makes the decisions fit each other: a directory goes, or gives way to a file, only when nothing in it stays;
 * a file is made only where its parents are directories, and parents that are missing are made with their last
 * known mode. Children are looked at before parents for what goes, parents before children for what comes.
 */
export function fitTogether(decisions: readonly Decision[], tree: Tree, stacks: LiveStacks): Decision[] {
  const writes = new Map<RelPath, Write>()
  const others: Decision[] = []
  for (const decision of decisions) {
    if (decision.act === 'write') writes.set(decision.path, decision)
    else others.push(decision)
  }
  const kept = [...keepRoomOfMissing(writes, others), ...keepFullDirectories(writes, tree)]
  const made = makeParents(writes, tree, stacks)
  kept.push(...made.blocked)
  const rest = [...others, ...kept].filter((decision) => !made.parents.has(decision.path))
  return [...rest, ...writes.values(), ...made.parents.values()]
}

/** What stands in the way of a path whose bytes are lost is not removed for it. */
function keepRoomOfMissing(writes: Map<RelPath, Write>, others: readonly Decision[]): Keep[] {
  const lost = new Set<RelPath>()
  for (const decision of others) {
    if (decision.act === 'keep' && decision.kept.reason === 'missing-blob' && decision.from.kind === 'dir')
      lost.add(decision.path)
  }
  if (lost.size === 0) return []
  const kept = [...writes.values()].filter((write) => write.to.kind === 'absent' && isInAny(write.path, lost))
  for (const write of kept) writes.delete(write.path)
  return kept.map((write) => keepInstead(write, 'missing-blob'))
}

/** Takes out of `writes` what would remove a directory that something stays in, and gives those as kept. */
function keepFullDirectories(writes: Map<RelPath, Write>, tree: Tree): Keep[] {
  const leaving = [...writes.values()].filter((write) => write.from.kind === 'dir' && write.to.kind !== 'dir')
  if (leaving.length === 0) return []
  const children = childrenOf(new Set(leaving.map((write) => write.path)), tree)
  const comingInto = countComing(writes)
  const kept: Keep[] = []
  for (const write of leaving.sort((a, b) => (a.path < b.path ? 1 : -1))) {
    const stays = (children.get(write.path) ?? []).some((child) => writes.get(child)?.to.kind !== 'absent')
    if (!stays && (comingInto.get(write.path) ?? 0) === 0) continue
    writes.delete(write.path)
    kept.push(keepInstead(write, 'directory-not-empty'))
  }
  return kept
}

function childrenOf(folders: ReadonlySet<RelPath>, tree: Tree): Map<RelPath, RelPath[]> {
  const children = new Map<RelPath, RelPath[]>()
  for (const [path, state] of tree) {
    const folder = parentOf(path)
    if (state.kind === 'absent' || !folders.has(folder)) continue
    const list = children.get(folder)
    if (list === undefined) children.set(folder, [path])
    else list.push(path)
  }
  return children
}

/** How many paths the plan makes below each directory. */
function countComing(writes: ReadonlyMap<RelPath, Write>): Map<RelPath, number> {
  const counts = new Map<RelPath, number>()
  for (const write of writes.values()) {
    if (write.to.kind === 'absent') continue
    for (let folder = parentOf(write.path); folder !== ''; folder = parentOf(folder)) {
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
  }
  return counts
}

interface Parents {
  readonly parents: Map<RelPath, Write>
  readonly blocked: Keep[]
}

function makeParents(writes: Map<RelPath, Write>, tree: Tree, stacks: LiveStacks): Parents {
  const parents = new Map<RelPath, Write>()
  const blocked: Keep[] = []
  const stateAfter = (path: RelPath): State =>
    (parents.get(path) ?? writes.get(path))?.to ?? stateIn(tree, path)
  const creations = [...writes.values()].filter((write) => write.to.kind !== 'absent')
  for (const write of creations.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const missing: RelPath[] = []
    let isBlocked = false
    for (let folder = parentOf(write.path); folder !== ''; folder = parentOf(folder)) {
      const state = stateAfter(folder)
      if (state.kind === 'dir') break
      if (state.kind === 'absent') missing.push(folder)
      else isBlocked = true
    }
    if (isBlocked) {
      writes.delete(write.path)
      blocked.push(keepInstead(write, 'blocked-by-parent'))
    } else
      for (const folder of missing) parents.set(folder, makeParent(folder, stacks.get(folder) ?? [], writes))
  }
  return { parents, blocked }
}

/** Also takes over from a step that was to leave nothing at the path. */
function makeParent(path: RelPath, stack: Stack, writes: Map<RelPath, Write>): Write {
  const removal = writes.get(path)
  writes.delete(path)
  const to = lastDirectory(stack)
  return {
    act: 'write',
    path,
    from: removal?.from ?? ABSENT,
    to,
    isMerge: false,
    effect: {
      popped: removal?.effect.popped ?? [],
      putBack: removal?.effect.putBack ?? [],
      pushed: { before: ABSENT, after: to },
    },
    alsoUndoes: removal?.alsoUndoes ?? [],
  }
}

function lastDirectory(stack: Stack): DirState {
  for (const change of stack.toReversed()) {
    if (change.after.kind === 'dir') return change.after
    if (change.before.kind === 'dir') return change.before
  }
  return { kind: 'dir', mode: FALLBACK_DIRECTORY_MODE }
}
