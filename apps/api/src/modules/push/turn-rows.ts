import type { BlobId, Entry, RestoreDetail, SkippedPath, State, TurnManifest } from '@turnback/core'
import { limits } from '@turnback/core'
import type { StoredRestoreFacts } from '#db/schema/turns.ts'

/** What the lists show of a turn, made from its manifest. */
export interface TurnProjection {
  readonly head: Omit<TurnManifest, 'entries' | 'skipped'>
  readonly entries: readonly Entry[]
  readonly skippedPaths: readonly SkippedPath[]
  readonly counts: { created: number; changed: number; deleted: number; skipped: number; sealed: number }
  readonly restoreFacts: StoredRestoreFacts | null
}

export function projectManifest(manifest: TurnManifest): TurnProjection {
  const { entries, skipped, ...head } = manifest
  return {
    head: cleanDeep(head),
    entries: entries.map((entry) => ({
      ...entry,
      before: cleanState(entry.before),
      after: cleanState(entry.after),
    })),
    skippedPaths: skipped.slice(0, limits.entriesPerPage),
    counts: { ...countEntries(entries), skipped: skipped.length },
    restoreFacts: manifest.restore === undefined ? null : factsOf(manifest.restore),
  }
}

/** The blobs whose bytes the entries and their steps are made of. */
export function* blobsOf(manifest: TurnManifest): Generator<BlobId> {
  const states = (entry: Entry) =>
    [entry, ...(entry.steps ?? [])].flatMap(({ before, after }) => [before, after])
  for (const entry of manifest.entries)
    for (const state of states(entry)) if (state.kind === 'file') yield state.blob
  for (const { before, after } of manifest.restore?.pushed ?? [])
    for (const state of [before, after]) if (state.kind === 'file') yield state.blob
}

/** Files and links only; a directory is no work of anybody's by itself. */
function countEntries(entries: readonly Entry[]) {
  const counts = { created: 0, changed: 0, deleted: 0, sealed: 0 }
  for (const { before, after, sealed } of entries) {
    if (sealed) counts.sealed += 1
    if (isContent(before) && !isContent(after)) counts.deleted += 1
    else if (!isContent(before) && isContent(after)) counts.created += 1
    else if (isContent(before)) counts.changed += 1
  }
  return counts
}

function isContent(state: State): boolean {
  return state.kind !== 'absent' && state.kind !== 'dir'
}

function factsOf(restore: RestoreDetail): StoredRestoreFacts {
  const { target, takenBack, of, status } = restore
  return { target, takenBack, of, isWhole: restore.paths === null, status }
}

/**
 * PostgreSQL holds neither NUL nor lone surrogates. The envelope keeps what was signed; rows, which are for
 * showing, get the replacement character.
 */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

function cleanState(state: State): State {
  return state.kind === 'symlink' ? { ...state, target: cleanText(state.target) } : state
}

function cleanDeep<T>(value: T): T {
  const text = JSON.stringify(value)
  if (!/\\u(0000|d[89a-f])/i.test(text)) return value
  return JSON.parse(text, (_key, part: unknown) => (typeof part === 'string' ? cleanText(part) : part))
}
