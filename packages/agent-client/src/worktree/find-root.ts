import { lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, parse, resolve } from 'node:path'
import { DomainError } from '@turnback/core'
import type { Home, Workspace } from '#ports.ts'
import { findGitTop } from './git-state.ts'

/** A folder that is, or may become, a workspace. */
export interface Place {
  /** Absolute, links resolved. */
  readonly root: string
  readonly device: string
  readonly inode: string
  readonly name: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** The innermost registered workspace that holds the folder, or null. @throws USAGE when there is no such folder */
export function findWorkspaceAround(start: string, registered: readonly Workspace[]): Workspace | null {
  const at = realFolder(start)
  const around = registered
    .filter(({ root }) => at === root || at.startsWith(`${root}/`))
    .filter((workspace) => isSamePlace(workspace, placeAt(workspace.root)))
  return around.sort((a, b) => b.root.length - a.root.length)[0] ?? null
}

/** A registered workspace that is not where it was: what is there now is a workspace of its own (contract rule 1). */
export interface FormerPlace {
  readonly workspace: Workspace
  /** `moved`: its folder is around `start` now, at `root`. `replaced`: another folder lies there, around `start`. */
  readonly why: 'moved' | 'replaced'
  readonly root: string
}

/** What happened to workspaces whose histories somebody may look for in `start`; the innermost first. */
export function findFormerPlaces(start: string, registered: readonly Workspace[]): FormerPlace[] {
  const found: FormerPlace[] = []
  for (let root = realFolder(start); ; root = dirname(root)) {
    for (const workspace of registered) {
      const why = findMove(workspace, root)
      if (why !== null) found.push({ workspace, why, root })
    }
    if (root === dirname(root)) return found
  }
}

function findMove(workspace: Workspace, root: string): FormerPlace['why'] | null {
  const isHere = isSamePlace(workspace, placeAt(root))
  if (workspace.root === root) return isHere ? null : 'replaced'
  if (!isHere || isSamePlace(workspace, placeAt(workspace.root))) return null
  // A file system gives the numbers of removed folders to new ones.
  return lstatSync(root).birthtimeMs <= Date.parse(workspace.createdAt) ? 'moved' : null
}

/**
 * The folder that is to be registered for work in `start` (contract rule 1): git's top level if it may be one,
 * else the folder itself.
 * @param exactly take the folder itself, whatever is around it
 * @throws ROOT_REFUSED
 */
export function findPlace(start: string, home: Home, env: Environment, exactly: boolean): Place {
  const at = realFolder(start)
  const top = exactly ? null : findGitTop(at)
  const root = top !== null && !isRefused(top, home, env) ? top : at
  const place = placeAt(root)
  if (place === null || isRefused(root, home, env)) throw new DomainError('ROOT_REFUSED', { root })
  return place
}

/** The folder with links resolved: what paths that were typed in it are relative to. */
export function realFolder(folder: string): string {
  try {
    const at = realpathSync(folder)
    if (statSync(at).isDirectory()) return at
  } catch (cause) {
    throw new DomainError('USAGE', { folder }, { message: `There is no folder ${folder}.`, cause })
  }
  throw new DomainError('USAGE', { folder }, { message: `${folder} is no folder.` })
}

/**
 * What of an absolute path lies below the root: '' for the root itself, null for a path outside. A path may lead to
 * the root through links, as a shell shows it after `cd`. Only that way is resolved; below the root names are literal,
 * links among them too.
 */
export function partBelow(root: string, path: string): string | null {
  const plain = plainPartBelow(root, path)
  if (plain !== null) return plain
  for (let end = path.indexOf('/', 1); ; end = path.indexOf('/', end + 1)) {
    const way = end < 0 ? path : path.slice(0, end)
    const below = plainPartBelow(root, realOrSame(way))
    if (below !== null) return [below, path.slice(way.length + 1)].filter((part) => part !== '').join('/')
    if (end < 0) return null
  }
}

function plainPartBelow(root: string, path: string): string | null {
  if (path === root) return ''
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null
}

function placeAt(root: string): Place | null {
  const there = lstatSync(root, { bigint: true, throwIfNoEntry: false })
  if (there === undefined || !there.isDirectory()) return null
  return { root, device: String(there.dev), inode: String(there.ino), name: basename(root) }
}

function isSamePlace(workspace: Workspace, place: Place | null): boolean {
  return place !== null && workspace.device === place.device && workspace.inode === place.inode
}

/** `/`, the home folder and our own store are no workspaces, by whatever path they are reached. */
function isRefused(root: string, home: Home, env: Environment): boolean {
  if (parse(root).root === root) return true
  if (root === realOrSame(env.HOME ?? homedir()) || root === realOrSame(homedir())) return true
  const ours = [home.store, home.keys, home.logs, home.config].map(realOrSame)
  return ours.some((folder) => root === folder || root.startsWith(`${folder}/`))
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Not there: nothing can be the same place.
    return resolve(path)
  }
}
