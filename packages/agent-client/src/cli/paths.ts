import { isAbsolute, join } from 'node:path'
import { DomainError, ESCAPE, type RelPath, readName, writeName } from '@turnback/core'
import type { OutsidePath, Workspace } from '#ports.ts'
import { partBelow } from '#worktree/find-root.ts'
import { followLinks, listSpellings } from '#worktree/spellings.ts'

/**
 * A path as it was typed, relative to the folder the command runs in, in the form that the log uses. Names are
 * literal. A name that we print as `b64:…` is taken as we print it.
 * @returns '' for the root itself
 * @throws OUTSIDE_ROOT
 */
export function toRelPath(workspace: Workspace, folder: string, typed: string): RelPath {
  const found = findRelPath(workspace, folder, typed)
  if (found === null) throw new DomainError('OUTSIDE_ROOT', { path: typed })
  return found
}

/**
 * What a tool means by a path, under every name that the log may have for it. None for a path elsewhere: a tool may well
 * touch files outside of the root.
 */
export function listNamedPaths(workspace: Workspace, folder: string, typed: string): RelPath[] {
  const path = isAbsolute(typed) ? join(typed) : join(folder, typed)
  const found = listSpellings(path).flatMap((each) => findRelPath(workspace, folder, each) ?? [])
  return [...new Set(found)].filter((each) => each !== '')
}

/** Where a tool writes that is outside of the root, links followed; null when it is inside. */
export function findOutsidePath(workspace: Workspace, folder: string, typed: string): OutsidePath | null {
  const path = isAbsolute(typed) ? join(typed) : join(folder, typed)
  const leadsTo = followLinks(path)
  if (partBelow(workspace.root, leadsTo) !== null) return null
  const named = findRelPath(workspace, folder, path)
  return { path: leadsTo, link: named === '' ? null : named }
}

/** What {@link toRelPath} gives, or null for a path outside of the root. */
function findRelPath(workspace: Workspace, folder: string, typed: string): RelPath | null {
  const path = join(isAbsolute(typed) ? typed : join(folder, typed))
  const whole = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const below = partBelow(workspace.root, whole)
  if (below === null) return null
  return below
    .split('/')
    .map((name) => (name.startsWith(ESCAPE) && readName(name) !== null ? name : writeName(Buffer.from(name))))
    .join('/')
}
