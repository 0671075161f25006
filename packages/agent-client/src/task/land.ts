import type { TurnId } from '@turnback/core'
import { DomainError } from '@turnback/core'
import { placeTaskFile, removeTaskFile } from '#store/task-files.ts'
import { commitIndex, takeOff } from './commit.ts'
import { joinNul } from './git.ts'
import { equalEntries, type GitEntry, readTreeChanges, writeIndex } from './git-index.ts'
import type { GitPath } from './git-paths.ts'
import { type MergedPath, mergeOwnWork } from './merge-own-work.ts'
import type { Ready } from './repository.ts'
import { isOfFile, type LandingChange, sortPaths } from './sort-paths.ts'
import type { Landed, TaskPorts } from './task.ts'
import { listTaskChanges, type TaskChange } from './task-changes.ts'

/** What the commit says. */
export interface LandingWords {
  readonly subject: string
  readonly trailers: readonly string[]
}

/**
 * Commits what the tries of a task changed: one commit on what HEAD was before, made in an index of its own, so that
 * what is staged stays so. What its person had not committed in the same files is not taken along (decision 0019).
 * @throws LANDING_REFUSED when that can not be told apart, LANDING_FAILED when git or a hook of the repository refuses
 */
export async function landTask(
  ports: TaskPorts,
  ready: Ready,
  turns: readonly TurnId[],
  words: LandingWords,
): Promise<Landed> {
  const { deps, workspace } = ports
  await refuseMovedHead(ready)
  const changes = await listTaskChanges(deps, workspace, turns)
  const { landing, notLanded } = await sortPaths(ready, changes, deps.log.getKnownTree(workspace.id))
  refuseOthers(landing)
  const merged = await mergeOwnWork(
    deps,
    ready,
    landing.filter(({ gitPath }) => ready.dirty.has(gitPath)),
  )
  const indexFile = placeTaskFile(deps.home, `index-${turns.at(-1) ?? ''}`)
  try {
    await fillIndex(ready, landing, merged, indexFile)
    const commit = await commitIndex(ready, indexFile, words)
    if (commit !== null) await followCommit(ready, commit, merged)
    return { commit, notLanded }
  } finally {
    removeTaskFile(indexFile)
    removeTaskFile(`${indexFile}.lock`)
  }
}

async function refuseMovedHead({ git, head, branch }: Ready): Promise<void> {
  const now = await git.findCommit('HEAD')
  const { status, stdout } = await git.run(['symbolic-ref', '--quiet', 'HEAD'])
  const branchNow = status === 0 ? stdout.toString('utf8').trimEnd() : null
  if (now === head && branchNow === branch) return
  throw new DomainError(
    'LANDING_REFUSED',
    { then: head, now },
    {
      message:
        'Commits were made or the branch was changed while the task ran, so its work is not committed on top.',
    },
  )
}

function refuseOthers(landing: readonly TaskChange[]): void {
  const paths = landing.filter(({ isOthersToo }) => isOthersToo).map(({ path }) => path)
  if (paths.length === 0) return
  throw new DomainError(
    'LANDING_REFUSED',
    { paths },
    { message: 'Others changed the same files while the task ran, or may have.' },
  )
}

/** HEAD, with the task's changes and nothing else. */
async function fillIndex(
  { git, head }: Ready,
  landing: readonly LandingChange[],
  merged: ReadonlyMap<GitPath, MergedPath>,
  indexFile: string,
): Promise<void> {
  await git.get('LANDING_FAILED', ['read-tree', head ?? '--empty'], { indexFile })
  const plain = landing.filter(({ gitPath }) => !merged.has(gitPath))
  const set = new Map<GitPath, GitEntry | null>()
  for (const { gitPath, after } of plain) if (!isOfFile(after)) set.set(gitPath, null)
  for (const [path, { landed }] of merged) if (landed !== null) set.set(path, landed)
  await writeIndex(git, 'LANDING_FAILED', set, indexFile)
  const there = plain.filter(({ after }) => isOfFile(after)).map(({ gitPath }) => gitPath)
  if (there.length === 0) return
  const args = ['update-index', '-z', '--add', '--replace', '--stdin']
  await git.get('LANDING_FAILED', args, { input: joinNul(there), indexFile })
}

/**
 * The person's own index has what was committed as committed, and what they had staged on top as staged. When it can not,
 * the commit is taken off again: a failure leaves nothing behind.
 */
export async function followCommit(
  ready: Ready,
  commit: string,
  merged: ReadonlyMap<GitPath, MergedPath>,
): Promise<void> {
  try {
    await setIndex(ready, commit, merged)
  } catch (error) {
    await takeOff(ready, commit)
    throw error
  }
}

async function setIndex(
  { git, head }: Ready,
  commit: string,
  merged: ReadonlyMap<GitPath, MergedPath>,
): Promise<void> {
  const changes = await readTreeChanges(git, 'LANDING_FAILED', head, commit)
  const wanted = new Map<GitPath, GitEntry | null>()
  for (const { path, after } of changes) {
    const own = merged.get(path)
    if (own === undefined) wanted.set(path, after)
    else if (equalEntries(own.landed, after)) wanted.set(path, own.staged)
    // A hook changed it once more; what was staged is left as it is rather than guessed.
  }
  await writeIndex(git, 'LANDING_FAILED', wanted)
  // Only times and sizes, so that programs that do not look at bytes take them for clean too.
  await git.run(['update-index', '-q', '--refresh'])
}
