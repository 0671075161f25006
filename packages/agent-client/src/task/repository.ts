import { join } from 'node:path'
import { DomainError } from '@turnback/core'
import type { Workspace } from '#ports.ts'
import { findGitTop, readGitState } from '#worktree/git-state.ts'
import { Git, splitNul } from './git.ts'
import { type IndexEntries, readIndex } from './git-index.ts'
import { type GitPath, showGitPath } from './git-paths.ts'

/** A repository as it is before a task. */
export interface Repository {
  readonly git: Git
  /** Of the workspace below the repository's top: empty, or ending with a slash. */
  readonly prefix: GitPath
  /** Null before the first commit. */
  readonly head: string | null
  /** Full name of the branch that HEAD stands for, or null when it is on none. */
  readonly branch: string | null
  readonly index: IndexEntries
  /** HEAD of each submodule. */
  readonly submodules: Heads
  /** What git is in the middle of, or null. */
  readonly operation: string | null
}

/** By path; null where there is no commit, or no repository yet. */
type Heads = ReadonlyMap<GitPath, string | null>

const SUBMODULE_MODE = '160000'

/** HEAD of each submodule as it is now. */
export function readSubmodules({ folder }: Git, { entries }: IndexEntries): Heads {
  const paths = [...entries].flatMap(([path, { mode }]) => (mode === SUBMODULE_MODE ? [path] : []))
  return new Map(paths.map((path) => [path, readGitState(join(folder, showGitPath(path))).head]))
}

/**
 * The repository that the workspace lies in, or null when there is none.
 * @param operation what git is in the middle of, or null
 * @throws TASK_REFUSED when there is one and git can not be started, or does not want to work in it
 */
export async function findRepository(
  workspace: Pick<Workspace, 'root'>,
  env: Readonly<Record<string, string | undefined>>,
  operation: string | null,
): Promise<Repository | null> {
  if (findGitTop(workspace.root) === null) return null
  const here = new Git(workspace.root, env)
  const args = ['rev-parse', '--is-inside-work-tree', '--show-object-format', '--show-prefix']
  const asked = await here.run(args)
  if (asked.status !== 0) throw refusal(`Git does not work here. ${asked.words}`)
  const [inside, format, prefix = ''] = asked.stdout.toString('latin1').split('\n')
  if (inside !== 'true') return null
  const top = await here.getLine('TASK_REFUSED', ['rev-parse', '--show-toplevel'])
  const git = new Git(top, env, format === 'sha256' ? 64 : 40)
  const branch = await git.run(['symbolic-ref', '--quiet', 'HEAD'])
  const index = await readIndex(git, 'TASK_REFUSED')
  return {
    ...{ git, prefix, operation, index, submodules: readSubmodules(git, index) },
    head: await git.findCommit('HEAD'),
    branch: branch.status === 0 ? branch.stdout.toString('utf8').trimEnd() : null,
  }
}

/** A repository in which a commit can be made, with what its person has not committed. */
export interface Ready extends Repository {
  readonly dirty: ReadonlySet<GitPath>
}

/**
 * Makes sure that a commit can be made, before anything else is begun.
 * @throws TASK_REFUSED
 */
export async function prepareCommit(repository: Repository | null): Promise<Ready> {
  if (repository === null) throw refusal('The folder is in no git repository, so nothing can be committed.')
  const { git, index, operation } = repository
  if (operation !== null) throw refusal(`Git is in the middle of a ${operation}; finish or abort that first.`)
  if (index.unmerged.size > 0) throw refusal('The index has paths that are not merged; resolve them first.')
  for (const who of ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT']) {
    const { status, words } = await git.run(['var', who])
    if (status !== 0) throw refusal(`Git does not know in whose name to commit. ${words}`)
  }
  return { ...repository, dirty: await readDirty(git) }
}

/** What is staged, changed or new to git. */
async function readDirty(git: Git): Promise<Set<GitPath>> {
  const args = ['--no-optional-locks', 'status', '--porcelain', '-z', '--untracked-files=all', '--no-renames']
  return new Set(splitNul(await git.get('TASK_REFUSED', args)).map((line) => line.slice(3)))
}

function refusal(message: string): DomainError {
  return new DomainError('TASK_REFUSED', {}, { message })
}
