import { DomainError, mergeTexts, type State } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Git } from './git.ts'
import { equalEntries, type GitEntry, readTree } from './git-index.ts'
import { type GitPath, showGitPath } from './git-paths.ts'
import type { Ready } from './repository.ts'
import type { LandingChange } from './sort-paths.ts'

/** A path in which a person had work of their own that is not committed. */
export interface MergedPath {
  /** What the commit is to have; null to leave the path out of it. */
  readonly landed: GitEntry | null
  /** What the person's index is to have once it is committed. */
  readonly staged: GitEntry | null
}

/**
 * Finds the task's change alone, for files in which there was uncommitted work before: the same change made to what HEAD
 * has. What was not committed stays so.
 * @throws LANDING_REFUSED, naming the paths where the two can not be told apart
 */
export async function mergeOwnWork(
  deps: ClientDeps,
  { git, head, index }: Ready,
  changes: readonly LandingChange[],
): Promise<ReadonlyMap<GitPath, MergedPath>> {
  const merged = new Map<GitPath, MergedPath>()
  if (changes.length === 0) return merged
  const paths = changes.map(({ gitPath }) => gitPath)
  const committed = head === null ? new Map() : await readTree(git, 'LANDING_FAILED', head, paths)
  const refused: string[] = []
  for (const change of changes) {
    const own = { committed: committed.get(change.gitPath), staged: index.entries.get(change.gitPath) }
    const one = await mergeOne(deps, git, change, own)
    if (one === null) refused.push(change.path)
    else merged.set(change.gitPath, one)
  }
  if (refused.length === 0) return merged
  throw new DomainError(
    'LANDING_REFUSED',
    { paths: refused },
    {
      message: 'The task changed files that had uncommitted work in them, and the two can not be told apart.',
    },
  )
}

interface Own {
  readonly committed: GitEntry | undefined
  readonly staged: GitEntry | undefined
}

async function mergeOne(
  deps: ClientDeps,
  git: Git,
  { gitPath, before, after }: LandingChange,
  { committed, staged }: Own,
): Promise<MergedPath | null> {
  // Never committed, and gone: there is nothing of it that a commit could lose.
  if (committed === undefined && after.kind === 'absent') return { landed: null, staged: staged ?? null }
  if (committed === undefined || !isPlainFile(committed)) return null
  if (before.kind !== 'file' || after.kind !== 'file') return null
  const ours = await readAsInTree(git, gitPath, committed.id)
  const text = mergeTexts(deps.blobs.read(before.blob), ours, deps.blobs.read(after.blob))
  if (text === null) return null
  const landed: GitEntry = {
    mode: isExecutable(before) === isExecutable(after) ? committed.mode : modeOf(after),
    id: await writeBlob(git, text, gitPath),
  }
  if (equalEntries(landed, committed)) return { landed: null, staged: staged ?? null }
  const next = await stageOnTop(git, { committed, staged }, landed)
  return next === undefined ? null : { landed, staged: next }
}

/** What was staged, on what is committed now. Undefined when the two do not fit. */
async function stageOnTop(
  git: Git,
  { committed, staged }: Own,
  landed: GitEntry,
): Promise<GitEntry | null | undefined> {
  if (committed === undefined || equalEntries(committed, staged)) return landed
  // Taken out of the index by its person: it stays out.
  if (staged === undefined) return null
  if (!isPlainFile(staged)) return undefined
  const [base, ours, theirs] = await Promise.all(
    [committed, staged, landed].map(({ id }) => readBlob(git, id)),
  )
  const text = mergeTexts(base ?? NONE, ours ?? NONE, theirs ?? NONE)
  if (text === null) return undefined
  return { mode: staged.mode, id: await writeBlob(git, text, null) }
}

export const NONE = new Uint8Array()

export function isPlainFile({ mode }: GitEntry): boolean {
  return mode === '100644' || mode === '100755'
}

function isExecutable(state: Extract<State, { kind: 'file' }>): boolean {
  return (state.mode & 0o100) !== 0
}

function modeOf(state: Extract<State, { kind: 'file' }>): string {
  return isExecutable(state) ? '100755' : '100644'
}

export function readBlob(git: Git, id: string): Promise<Uint8Array> {
  return git.get('LANDING_FAILED', ['cat-file', 'blob', id])
}

/** With the line ends and whatever else the repository's filters make of it in a working tree. */
export function readAsInTree(git: Git, path: GitPath, id: string): Promise<Uint8Array> {
  return git.get('LANDING_FAILED', ['cat-file', '--filters', `--path=${showGitPath(path)}`, id])
}

/** @param path whose filters the bytes go through, as they come from a working tree; null for none */
export async function writeBlob(git: Git, bytes: Uint8Array, path: GitPath | null): Promise<string> {
  const how = path === null ? '--no-filters' : `--path=${showGitPath(path)}`
  const said = await git.get('LANDING_FAILED', ['hash-object', '-w', '--stdin', how], { input: bytes })
  return said.toString('latin1').trim()
}
