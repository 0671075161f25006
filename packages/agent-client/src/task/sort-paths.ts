import { parentOf, type RelPath, type State } from '@turnback/core'
import { joinNul, splitNul } from './git.ts'
import { type GitPath, toGitPath } from './git-paths.ts'
import type { Ready } from './repository.ts'
import type { NotLanded } from './task.ts'
import type { TaskChange } from './task-changes.ts'

/** A change of a file or link that a commit can have. */
export interface LandingChange extends TaskChange {
  readonly gitPath: GitPath
}

export interface SortedPaths {
  readonly landing: readonly LandingChange[]
  readonly notLanded: readonly NotLanded[]
}

/** Sorts out what is no file of this repository's: what git ignores, and what lies in another repository. */
export async function sortPaths(
  ready: Ready,
  changes: readonly TaskChange[],
  tree: { has(path: RelPath): boolean },
): Promise<SortedPaths> {
  const { prefix } = ready
  const files = changes
    .filter(({ before, after }) => isOfFile(before) || isOfFile(after))
    .map((change) => ({ ...change, gitPath: toGitPath(change.path, prefix) }))
  const elsewhere = findOtherRepositories(ready, files, tree)
  // Of what lies in a submodule git refuses to say anything.
  const own = files.filter((change) => !elsewhere.has(change)).map(({ gitPath }) => gitPath)
  const ignored = await readIgnored(ready, own)
  const reasonOf = (change: LandingChange): NotLanded['reason'] | null => {
    if (elsewhere.has(change)) return 'other-repository'
    return ignored.has(change.gitPath) && !ready.index.entries.has(change.gitPath) ? 'ignored' : null
  }
  const notLanded = files.flatMap((change) => {
    const reason = reasonOf(change)
    return reason === null ? [] : [{ path: change.path, reason }]
  })
  // Folders that are left out whole, such as installed packages: git would see them if it does not ignore them.
  const leftOut = changes
    .filter(({ after }) => after.kind === 'skipped' && !isOfFile(after))
    .map(({ path }) => ({ path, reason: 'not-captured' as const }))
  return {
    landing: files.filter((change) => reasonOf(change) === null),
    notLanded: [...notLanded, ...leftOut],
  }
}

/** Something that git has as one entry, if it has it. Files that were not captured are files still. */
export function isOfFile(state: State): boolean {
  switch (state.kind) {
    case 'file':
    case 'symlink':
      return true
    case 'dir':
    case 'absent':
      return false
    case 'skipped':
      switch (state.reason) {
        case 'too-large':
        case 'unreadable':
        case 'changed-while-reading':
        case 'budget':
        case 'unsafe-live':
          return true
        case 'excluded-directory':
        case 'special-file':
        case 'nested-git-dir':
        case 'nested-workspace':
          return false
      }
  }
}

async function readIgnored({ git }: Ready, paths: readonly GitPath[]): Promise<Set<GitPath>> {
  if (paths.length === 0) return new Set()
  // A name may begin with what git takes for a pattern's sign.
  const options = { input: joinNul(paths.map((path) => HERE + path)) }
  const args = ['check-ignore', '-z', '--stdin']
  const { status, stdout } = await git.run(args, options)
  // 1: none of them.
  if (status !== 0 && status !== 1) await git.get('LANDING_FAILED', args, options)
  return new Set(splitNul(stdout).map((path) => path.slice(HERE.length)))
}

const HERE = './'

/** Those that lie in a submodule, or in a repository that the task made or found there. */
function findOtherRepositories(
  { index, prefix }: Ready,
  files: readonly LandingChange[],
  tree: { has(path: RelPath): boolean },
): Set<LandingChange> {
  const folders = new Set(files.flatMap(({ path }) => foldersAbove(path)))
  const isOther = (folder: RelPath): boolean =>
    tree.has(`${folder}/.git`) || index.entries.get(toGitPath(folder, prefix))?.mode === SUBMODULE
  const other = new Set([...folders].filter(isOther))
  return new Set(files.filter(({ path }) => foldersAbove(path).some((folder) => other.has(folder))))
}

const SUBMODULE = '160000'

function foldersAbove(path: RelPath): RelPath[] {
  const above: RelPath[] = []
  for (let at = parentOf(path); at !== ''; at = parentOf(at)) above.push(at)
  return above
}
