import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * What a path may be called in the log: as it is spelled, with the links above it followed, and with itself followed
 * if it is a link. A tool that names a file through a link writes to where the link leads.
 * @param path absolute; need not be there yet
 */
export function listSpellings(path: string): string[] {
  return [...new Set([path, join(followLinks(dirname(path)), basename(path)), followLinks(path)])]
}

/** The path with all links followed, as far as it is there. */
export function followLinks(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // Not there, or not to be looked into: what lies above it may be.
    const above = dirname(path)
    return above === path ? path : join(followLinks(above), basename(path))
  }
}
