import { mergeTexts, type RelPath, type State, type Tree } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Git } from './git.ts'
import { equalEntries, type GitEntry, readTree, readTreeChanges, type TreeChange } from './git-index.ts'
import { type GitPath, showGitPath, toRelPath } from './git-paths.ts'
import { isPlainFile, type MergedPath, NONE, readAsInTree, readBlob, writeBlob } from './merge-own-work.ts'
import type { Ready } from './repository.ts'

/** One path that is to be as if the task had not been. */
export interface RevertedPath {
  readonly path: RelPath
  readonly gitPath: GitPath
  /** What the commit is to have, and the person's index. */
  readonly entry: MergedPath
  /** What the tree is to have: these bytes, or nothing. Null to leave it as it is. */
  readonly inTree: { readonly bytes: Uint8Array | null } | null
  /** False when a person has work of their own there that is not committed. */
  readonly isClean: boolean
}

/** Why a path can not be reverted alone. */
export interface RevertConflict {
  readonly path: GitPath
  /** Later commits changed the same places; what is not committed does; or it is not ours to write. */
  readonly reason: 'later-change' | 'uncommitted' | 'outside-workspace' | 'submodule' | 'not-captured'
}

export interface RevertPlan {
  readonly paths: readonly RevertedPath[]
  readonly conflicts: readonly RevertConflict[]
}

/** What the plan is made from. */
export interface RevertGround {
  readonly deps: ClientDeps
  readonly ready: Ready
  /** As it was just captured. */
  readonly tree: Tree
}

/** Works out how to take one commit's change back, and nothing that came after it. Writes nothing but git's objects. */
export async function planRevert(
  ground: RevertGround,
  commit: string,
  parent: string | null,
): Promise<RevertPlan> {
  const { git } = ground.ready
  const changes = await readTreeChanges(git, 'REVERT_REFUSED', parent, commit)
  const names = changes.map(({ path }) => path)
  const head = names.length === 0 ? new Map() : await readTree(git, 'REVERT_REFUSED', 'HEAD', names)
  const paths: RevertedPath[] = []
  const conflicts: RevertConflict[] = []
  for (const change of changes) {
    const now = head.get(change.path) ?? null
    if (equalEntries(now, change.before)) continue
    const planned = await planPath(ground, change, now)
    if ('reason' in planned) conflicts.push(planned)
    else paths.push(planned)
  }
  return { paths, conflicts }
}

async function planPath(
  ground: RevertGround,
  change: TreeChange,
  now: GitEntry | null,
): Promise<RevertedPath | RevertConflict> {
  const { ready, tree } = ground
  const gitPath = change.path
  const conflict = (reason: RevertConflict['reason']): RevertConflict => ({ path: gitPath, reason })
  if ([change.before, change.after, now].some((entry) => entry?.mode === '160000'))
    return conflict('submodule')
  const path = toRelPath(gitPath, ready.prefix)
  if (path === null) return conflict('outside-workspace')
  const present: State = tree.get(path) ?? { kind: 'absent' }
  if (present.kind === 'skipped') return conflict('not-captured')
  const wanted = await mergeBack(ready.git, change, now)
  if (wanted === undefined) return conflict('later-change')
  if (!ready.dirty.has(gitPath)) {
    const inTree = { bytes: wanted === null ? null : await readAsInTree(ready.git, gitPath, wanted.id) }
    return { path, gitPath, inTree, entry: { landed: wanted, staged: wanted }, isClean: true }
  }
  const own = await mergeUncommitted(ground, gitPath, { now, wanted, present })
  return own === null ? conflict('uncommitted') : { path, gitPath, ...own, isClean: false }
}

/** HEAD's version without the task's change. Undefined when later changes are in the same places. */
async function mergeBack(
  git: Git,
  { before, after }: TreeChange,
  now: GitEntry | null,
): Promise<GitEntry | null | undefined> {
  if (equalEntries(now, after)) return before
  if (before === null || after === null || now === null) return undefined
  const mode = before.mode === after.mode ? now.mode : now.mode === after.mode ? before.mode : undefined
  if (mode === undefined) return undefined
  if (now.id === after.id) return { mode, id: before.id }
  if (after.id === before.id) return { mode, id: now.id }
  if (![before, after, now].every(isPlainFile)) return undefined
  const id = await mergeBlobs(git, after.id, now.id, before.id)
  return id === null ? undefined : { mode, id }
}

/** The same for what a person has staged and changed on top of HEAD. Null when it is in the same places. */
async function mergeUncommitted(
  { deps, ready: { git, index } }: RevertGround,
  gitPath: GitPath,
  { now, wanted, present }: { now: GitEntry | null; wanted: GitEntry | null; present: State },
): Promise<Pick<RevertedPath, 'entry' | 'inTree'> | null> {
  const staged = index.entries.get(gitPath) ?? null
  const stage = equalEntries(staged, now) ? wanted : await mergeStaged(git, { now, wanted, staged })
  if (stage === undefined) return null
  const entry: MergedPath = { landed: wanted, staged: stage }
  const [nowBytes, wantedBytes] = await Promise.all(
    [now, wanted].map((each) => (each === null ? null : readAsInTree(git, gitPath, each.id))),
  )
  if (present.kind === 'absent') return wanted === null ? { entry, inTree: null } : null
  if (present.kind !== 'file') return null
  const bytes = deps.blobs.read(present.blob)
  if (nowBytes != null && isSame(bytes, nowBytes)) return { entry, inTree: { bytes: wantedBytes ?? null } }
  if (wantedBytes != null && isSame(bytes, wantedBytes)) return { entry, inTree: null }
  if (nowBytes == null || wantedBytes == null) return null
  const text = mergeTexts(nowBytes, bytes, wantedBytes)
  return text === null ? null : { entry, inTree: { bytes: text } }
}

async function mergeStaged(
  git: Git,
  { now, wanted, staged }: { now: GitEntry | null; wanted: GitEntry | null; staged: GitEntry | null },
): Promise<GitEntry | null | undefined> {
  if (equalEntries(staged, wanted)) return staged
  if (now === null || wanted === null || staged === null) return undefined
  if (![now, wanted, staged].every(isPlainFile)) return undefined
  const id = await mergeBlobs(git, now.id, staged.id, wanted.id)
  return id === null ? undefined : { mode: staged.mode, id }
}

async function mergeBlobs(git: Git, base: string, ours: string, theirs: string): Promise<string | null> {
  const [a, b, c] = await Promise.all([base, ours, theirs].map((id) => readBlob(git, id)))
  const text = mergeTexts(a ?? NONE, b ?? NONE, c ?? NONE)
  return text === null ? null : writeBlob(git, text, null)
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

export function conflictInWords({ path, reason }: RevertConflict): string {
  return `${showGitPath(path)}: ${WHY[reason]}`
}

const WHY: Readonly<Record<RevertConflict['reason'], string>> = {
  'later-change': 'later commits changed the same places',
  uncommitted: 'it has uncommitted changes in the same places',
  'outside-workspace': 'it lies outside this workspace; run the command in the repository’s top folder',
  submodule: 'it is a submodule',
  'not-captured': 'its bytes are not captured, so they could not be given back',
}
