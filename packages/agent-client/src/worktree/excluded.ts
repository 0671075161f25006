import type { Stats } from 'node:fs'
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs'
import type { DiskPath } from './disk-name.ts'
import { joinName, listNames } from './disk-name.ts'

/** Directories that programs make from other files, by a name that means nothing else. Left out whole. */
const GENERATED = new Set([
  'node_modules',
  'bower_components',
  '.venv',
  '__pycache__',
  '.tox',
  '.nox',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.eggs',
  '.gradle',
  '.next',
  '.nuxt',
  '.svelte-kit',
  '.turbo',
  '.parcel-cache',
  '.angular',
  '.terraform',
  '.direnv',
  '.pnpm-store',
  'DerivedData',
])
/** Names that may as well be somebody's source: left out only when something else says so too. */
const AMBIGUOUS = new Set(['build', 'dist', 'out', 'target', 'vendor', 'venv', 'coverage', '.cache'])

/** What a directory that a turn makes under an ambiguous name may hold and still be captured. */
const WATCHED_FILES = 2000
const WATCHED_BYTES = 64 * 1024 * 1024

const CACHE_TAG = 'CACHEDIR.TAG'
const CACHE_SIGNATURE = 'Signature: 8a477f597d28d172789f06886806bc55'

export function isGenerated(name: string): boolean {
  return GENERATED.has(name)
}

export function isAmbiguous(name: string): boolean {
  return AMBIGUOUS.has(name)
}

/** True when the directory says of itself that it is a cache (bford.info/cachedir). */
export function hasCacheTag(folder: DiskPath): boolean {
  let fd: number
  try {
    fd = openSync(
      joinName(folder, CACHE_TAG),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
  } catch {
    // Not there or not readable: it says nothing.
    return false
  }
  try {
    const head = Buffer.alloc(CACHE_SIGNATURE.length)
    return (
      readSync(fd, head, 0, head.length, 0) === head.length && head.toString('latin1') === CACHE_SIGNATURE
    )
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}

/**
 * Files and bytes below a directory, or null when there are too many to count by then.
 * @param untilMs by performance.now()
 */
export function countBelow(folder: DiskPath, untilMs: number): { count: number; sizeBytes: number } | null {
  const waiting: DiskPath[] = [folder]
  let count = 0
  let sizeBytes = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of listOrNothing(next)) {
      const at = joinName(next, name)
      const stat = lstatOrNothing(at)
      if (stat?.isDirectory()) waiting.push(at)
      else if (stat !== undefined) {
        count++
        sizeBytes += stat.size
      }
    }
    if (performance.now() > untilMs) return null
  }
  return { count, sizeBytes }
}

function lstatOrNothing(at: DiskPath): Stats | undefined {
  try {
    return lstatSync(at, { throwIfNoEntry: false })
  } catch {
    // As below.
    return undefined
  }
}

function listOrNothing(folder: DiskPath): string[] {
  try {
    return listNames(folder)
  } catch {
    // It went away, or is closed to us: only a count is at stake.
    return []
  }
}

/** What a watched directory may still hold. One inside another counts for both. */
export class Budget {
  #files = WATCHED_FILES
  #bytes = WATCHED_BYTES
  readonly #outer: Budget | null

  constructor(outer: Budget | null) {
    this.#outer = outer
  }

  take(sizeBytes: number): void {
    this.#files--
    this.#bytes -= sizeBytes
    this.#outer?.take(sizeBytes)
  }

  get isSpent(): boolean {
    return this.#files < 0 || this.#bytes < 0 || this.#outer?.isSpent === true
  }
}
