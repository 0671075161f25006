import { z } from 'zod'
import { limits } from '#limits.ts'
import { findPathFault, isGitDisguise } from './validate.ts'

/**
 * A path below a workspace's root in its written form: names joined by `/`, no leading or trailing slash.
 * A name that is not UTF-8, and a name that begins with `b64:`, is written `b64:` + base64url of its bytes,
 * so every path has exactly one written form and any bytes that a file system allows can travel as JSON.
 */
export type RelPath = string

/** Accepts only paths that are safe to join to a root on the given machine's kind. See {@link findPathFault}. */
export const relPathSchema = z
  .string()
  .min(1)
  .max(limits.pathBytes)
  .refine((path) => findPathFault(path, 'posix') === null, { error: 'not a path inside a workspace' })

/**
 * A path that is recorded or shown, never written to: as above, and it may also be that of a `.git`, which a
 * scan notes as skipped.
 */
export const seenPathSchema = z
  .string()
  .min(1)
  .max(limits.pathBytes)
  .refine((path) => isSeenPath(path), { error: 'not a path inside a workspace' })

function isSeenPath(path: string): boolean {
  if (!isGitDisguise(nameOf(path)) || path.includes('\0')) return findPathFault(path, 'posix') === null
  return parentOf(path) === '' ? !path.startsWith('/') : findPathFault(parentOf(path), 'posix') === null
}

/** The parent's path, or `''` for a path directly below the root. */
export function parentOf(path: RelPath): RelPath {
  const at = path.lastIndexOf('/')
  return at < 0 ? '' : path.slice(0, at)
}

export function nameOf(path: RelPath): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** True when `path` is `folder` or lies below it; everything lies below `''`. */
export function isWithin(path: RelPath, folder: RelPath): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}
