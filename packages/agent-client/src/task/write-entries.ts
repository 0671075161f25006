import {
  ABSENT,
  DomainError,
  equalStates,
  makeId,
  orderSteps,
  type PlanStep,
  parentOf,
  type RelPath,
  type State,
  type Tree,
  type UnorderedStep,
  writeName,
} from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Lease, Workspace } from '#ports.ts'
import { carryOut } from '#restore/carry-out.ts'
import type { RevertedPath } from './plan-revert.ts'

const SYMLINK = '120000'
const EXECUTABLE = '100755'
const NO_EFFECT: PlanStep['effect'] = { popped: [], putBack: [], pushed: null }

/**
 * Writes paths into the tree by the hand that restores write with: each from the state that was captured, or not at all.
 * @throws REVERT_REFUSED with the paths that could not be written; what was written is there then
 */
export async function writeEntries(
  deps: ClientDeps,
  lease: Lease,
  workspace: Workspace,
  tree: Tree,
  paths: readonly RevertedPath[],
): Promise<void> {
  const wanted = new Map(paths.flatMap((each) => toState(deps, workspace, tree, each)))
  deps.blobs.flush()
  const steps = orderSteps(listSteps(tree, wanted), deps.ignoresCase(workspace.root))
  const writer = deps.writer(workspace, makeId('r', deps.clock.nowMs(), deps.random(10)))
  const { outcomes } = await carryOut(writer, steps, { check: () => lease.check() })
  const failed = [
    ...outcomes.failed.map(({ path, reason }) => `${path}: ${reason}`),
    ...outcomes.kept.map(({ path, reason }) => `${path}: ${reason}`),
  ]
  if (failed.length === 0) return
  throw new DomainError(
    'REVERT_REFUSED',
    { paths: failed },
    { message: 'Not everything could be written, so all of it was taken back.' },
  )
}

function toState(
  deps: ClientDeps,
  workspace: Workspace,
  tree: Tree,
  { path, entry, inTree }: RevertedPath,
): [RelPath, State][] {
  if (inTree === null) return []
  const { bytes } = inTree
  if (bytes === null) return [[path, ABSENT]]
  const mode = entry.landed?.mode
  if (mode === SYMLINK) return [[path, { kind: 'symlink', target: writeName(bytes) }]]
  const blob = deps.blobs.put(workspace.id, bytes, deps.log.isSealedPath(workspace.id, path))
  const before = tree.get(path)
  const present = before?.kind === 'file' ? before.mode : 0o666 & ~process.umask()
  return [
    [
      path,
      { kind: 'file', blob, sizeBytes: bytes.length, mode: withExecutable(present, mode === EXECUTABLE) },
    ],
  ]
}

/** Who may read it may run it. */
function withExecutable(mode: number, isExecutable: boolean): number {
  return isExecutable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

/** With the folders that files need, and without those that they leave empty: git has none. */
function listSteps(tree: Tree, wanted: ReadonlyMap<RelPath, State>): UnorderedStep[] {
  const all = new Map(wanted)
  for (const [path, state] of wanted) {
    if (state.kind === 'absent') continue
    for (let at = parentOf(path); at !== '' && tree.get(at)?.kind !== 'dir'; at = parentOf(at))
      all.set(at, { kind: 'dir', mode: 0o777 & ~process.umask() })
  }
  for (const path of findEmptied(tree, all)) all.set(path, ABSENT)
  return [...all].flatMap(([path, to]) => {
    const from = tree.get(path) ?? ABSENT
    return equalStates(from, to) ? [] : [{ path, from, to, list: listOf(to), effect: NO_EFFECT }]
  })
}

function listOf(to: State): PlanStep['list'] {
  if (to.kind === 'dir') return 'directories.restored'
  return to.kind === 'absent' ? 'deleted' : 'restored'
}

function findEmptied(tree: Tree, wanted: ReadonlyMap<RelPath, State>): Set<RelPath> {
  const parents = new Set<RelPath>()
  for (const [path, state] of wanted)
    if (state.kind === 'absent')
      for (let at = parentOf(path); at !== ''; at = parentOf(at)) if (!wanted.has(at)) parents.add(at)
  if (parents.size === 0) return parents
  const isGone = (path: RelPath): boolean => wanted.get(path)?.kind === 'absent' || parents.has(path)
  // Whatever stays keeps all that is above it.
  for (const path of [...tree.keys(), ...wanted.keys()])
    if (!isGone(path)) for (let at = parentOf(path); at !== ''; at = parentOf(at)) parents.delete(at)
  return parents
}
