import type { Git } from './git.ts'
import { type GitPath, showGitPath } from './git-paths.ts'

/** A commit that says which task it is of. */
export interface TaskCommit {
  readonly commit: string
  readonly parents: readonly string[]
  /** The tasks that it landed: several in one that was made of others. */
  readonly tasks: readonly string[]
  /** The tasks and commits that it takes back. */
  readonly revertedTasks: readonly string[]
  readonly revertedCommits: readonly string[]
  readonly subject: string
}

/** Where a task stands on the branch: landed by this commit, taken back by that one, or neither. */
export type Landing =
  | { readonly kind: 'landed'; readonly commit: TaskCommit }
  | { readonly kind: 'reverted'; readonly commit: TaskCommit; readonly by: TaskCommit }
  | { readonly kind: 'none' }

const FIELDS = [
  ...['%H', '%P'],
  ...['Task-Id', 'Reverts-Task', 'Reverts-Commit'].map(
    (key) => `%(trailers:key=${key},valueonly,unfold,separator=%x1e)`,
  ),
  ...['%s', '%b'],
].join('%x1f')

/**
 * Looks for the latest commit of the task that was not taken back since.
 * @param where in what HEAD stands on, or in all that has a name
 */
export async function findLanding(
  git: Git,
  task: string,
  where: 'HEAD' | '--all' = 'HEAD',
): Promise<Landing> {
  const words = [`Task-Id: ${task}`, `Reverts-Task: ${task}`, 'This reverts commit']
  const args = ['--topo-order', '--reverse', '-i', '-F', ...words.map((word) => `--grep=${word}`)]
  const landed: TaskCommit[] = []
  let last: Landing = { kind: 'none' }
  for (const commit of await readCommits(git, [...args, where])) {
    if (commit.tasks.includes(task)) landed.push(commit)
    const at = findTakenBack(landed, commit, task)
    const [taken] = at < 0 ? [] : landed.splice(at, 1)
    if (taken !== undefined) last = { kind: 'reverted', commit: taken, by: commit }
  }
  const commit = landed.at(-1)
  return commit === undefined ? last : { kind: 'landed', commit }
}

/** Which of them it takes back, or -1. One that was written anew since has another name than it was given then. */
function findTakenBack(landed: readonly TaskCommit[], by: TaskCommit, task: string): number {
  const named = landed.findLastIndex(({ commit }) => by.revertedCommits.includes(commit))
  if (named >= 0 || !by.revertedTasks.includes(task)) return named
  return landed.length - 1
}

/** Tasks, or else commits, that changed these paths after a commit: what stands on it. Oldest first. */
export async function listLater(git: Git, commit: string, paths: readonly GitPath[]): Promise<TaskCommit[]> {
  return readCommits(git, ['--topo-order', '--reverse', `${commit}..HEAD`, '--', ...paths.map(showGitPath)])
}

async function readCommits(git: Git, args: readonly string[]): Promise<TaskCommit[]> {
  const log = ['--literal-pathspecs', '-c', 'log.showSignature=false', 'log', '-z', `--format=${FIELDS}`]
  const said = await git.get('REVERT_REFUSED', [...log, ...args])
  return said
    .toString('utf8')
    .split('\0')
    .filter((item) => item !== '')
    .map(toCommit)
}

function toCommit(item: string): TaskCommit {
  const [commit = '', parents = '', tasks = '', reverted = '', commits = '', subject = '', ...body] =
    item.split('\x1f')
  const list = (text: string) => [...new Set(text.split('\x1e').map((each) => each.trim()))].filter(Boolean)
  const inWords = [...body.join('').matchAll(/^This reverts commit ([0-9a-f]{7,64})/gm)].map(
    ([, id = '']) => id,
  )
  return {
    commit,
    parents: parents.split(' ').filter(Boolean),
    tasks: list(tasks),
    revertedTasks: list(reverted),
    revertedCommits: [...list(commits), ...inWords],
    subject,
  }
}
