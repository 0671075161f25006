import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { GitState } from '#ports.ts'

const NONE: GitState = { head: null, branch: null, operation: null, unreadable: false }
const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/** Links from one name to another that are followed before they count as a loop. */
const MAX_LINKS = 5

export interface GitFolder {
  /** The directory that holds HEAD: a linked worktree has its own. */
  readonly own: string
  /** The directory that holds branches and the private ignore list. */
  readonly common: string
}

const OPERATIONS: readonly (readonly [file: string, operation: string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['BISECT_LOG', 'bisect'],
]

/** HEAD, branch and what is under way, read from git's files: no process, no lock, works while git is broken. */
export function readGitState(root: string): GitState {
  const git = findGitFolder(root)
  if (git === null) return NONE
  const operation = OPERATIONS.find(([file]) => existsSync(join(git.own, file)))?.[1] ?? null
  const text = readText(join(git.own, 'HEAD'))?.trim()
  if (text === undefined) return { ...NONE, operation, unreadable: true }
  if (HASH.test(text)) return { head: text, branch: null, operation, unreadable: false }
  const name = /^ref: (refs\/\S.*)$/.exec(text)?.[1]
  // With the reftable format this name stands in HEAD and says nothing.
  if (name === undefined || name === 'refs/heads/.invalid') return { ...NONE, operation, unreadable: true }
  const branch = name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : name
  return { head: readRef(git, name, MAX_LINKS), branch, operation, unreadable: false }
}

/** Git's own directories for the folder that `root` lies in, or null outside of any repository. */
export function findGitFolder(root: string): GitFolder | null {
  const top = findGitTop(root)
  if (top === null) return null
  const entry = join(top, '.git')
  const stat = lstatSync(entry, { throwIfNoEntry: false })
  let own = entry
  if (stat?.isFile()) {
    const to = /^gitdir: (.+?)\s*$/.exec(readText(entry) ?? '')?.[1]
    if (to === undefined) return null
    own = resolve(top, to)
  }
  const common = readText(join(own, 'commondir'))?.trim()
  return { own, common: common === undefined ? own : resolve(own, common) }
}

/** The nearest folder from `start` upwards that holds a `.git`, or null. */
export function findGitTop(start: string): string | null {
  for (let at = start; ; at = dirname(at)) {
    if (lstatSync(join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at
    if (dirname(at) === at) return null
  }
}

function readRef(git: GitFolder, name: string, links: number): string | null {
  for (const folder of [git.own, git.common]) {
    const text = readText(join(folder, name))?.trim()
    if (text === undefined) continue
    if (HASH.test(text)) return text
    const next = /^ref: (refs\/\S.*)$/.exec(text)?.[1]
    return next === undefined || links === 0 ? null : readRef(git, next, links - 1)
  }
  const packed = readText(join(git.common, 'packed-refs')) ?? ''
  const line = packed.split('\n').find((each) => each.endsWith(` ${name}`))
  const hash = line?.slice(0, line.indexOf(' '))
  // No commit yet on this branch: it has no hash, which is no fault.
  return hash !== undefined && HASH.test(hash) ? hash : null
}

function readText(file: string): string | undefined {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : undefined
  } catch {
    // Missing and unreadable are the same to who asks: there is nothing to be had.
    return undefined
  }
}
