import { createHash } from 'node:crypto'
import {
  type BlobId,
  DomainError,
  filePatch,
  isSealed,
  type PatchSide,
  type RelPath,
  type State,
} from '@turnback/core'
import type { FileDiff } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import { readPlainBlob } from '#modules/push/index.ts'
import { type EntryRow, listEntryRows } from './queries.ts'
import { getEntry, type TurnPlace } from './service.ts'

/** A file above this is not compared here: the event loop is everybody's. */
const COMPARED_BYTES = 1024 * 1024
/** One answer compares no more than this; what follows comes with the next page. */
const BUDGET_BYTES = 4 * 1024 * 1024

type Withheld = FileDiff['withheld']

export interface MadeDiff {
  readonly diff: FileDiff
  /** The patch's bytes as they are: names and contents need not be UTF-8. */
  readonly patch: Uint8Array
}

/** The diffs of one path, or of as many as fit from `after` on; at least one. */
export async function listDiffs(
  deps: Deps,
  place: TurnPlace,
  page: { path: RelPath | null; after: string | null; limit: number },
): Promise<{ items: MadeDiff[]; hasMore: boolean }> {
  if (page.path !== null) {
    const entry = await getEntry(deps, place.turn, page.path)
    return { items: [await makeDiff(deps, place, entry)], hasMore: false }
  }
  const rows = await listEntryRows(deps.db, place.turn, { after: page.after, limit: page.limit + 1 })
  const items: MadeDiff[] = []
  let spentBytes = 0
  for (const entry of rows.slice(0, page.limit)) {
    if (items.length > 0 && spentBytes + bytesToCompare(entry) > BUDGET_BYTES) break
    items.push(await makeDiff(deps, place, entry))
    spentBytes += bytesToCompare(entry)
  }
  return { items, hasMore: rows.length > items.length }
}

async function makeDiff(deps: Deps, place: TurnPlace, entry: EntryRow): Promise<MadeDiff> {
  const known = withheldOf(entry)
  const isReadable = known === null
  const before = await sideOf(deps, place, entry.before, isReadable)
  const after = await sideOf(deps, place, entry.after, isReadable)
  const isMissing = before === 'missing' || after === 'missing'
  const withheld = known ?? (isMissing ? 'missing' : null)
  const made = filePatch(entry.path, patchSide(entry.before, before), patchSide(entry.after, after), sha256)
  const patch = withheld === null && !made.binary ? made.patch : new Uint8Array()
  const diff: FileDiff = {
    path: entry.path,
    status: made.status,
    additions: withheld === null ? made.additions : 0,
    deletions: withheld === null ? made.deletions : 0,
    binary: withheld === null && made.binary,
    patch: patch.length === 0 ? null : Buffer.from(patch).toString('utf8'),
    withheld,
    hunks: withheld === null ? [...made.hunks] : [],
  }
  return { diff, patch }
}

/** What can be said without looking for bytes. Sealed comes first: nothing more is told of those. */
function withheldOf(entry: EntryRow): Withheld {
  const sides = [entry.before, entry.after]
  if (entry.sealed || sides.some((state) => state.kind === 'file' && isSealed(state.blob))) return 'sealed'
  if (sides.some((state) => state.kind === 'skipped')) return 'skipped'
  if (sides.some((state) => state.kind === 'dir')) return 'not-a-file'
  if (sides.some((state) => state.kind === 'file' && state.sizeBytes > COMPARED_BYTES)) return 'too-large'
  return null
}

async function sideOf(
  deps: Deps,
  place: TurnPlace,
  state: State,
  isReadable: boolean,
): Promise<Uint8Array | 'missing' | null> {
  if (state.kind !== 'file' || !isReadable) return null
  try {
    return await readPlainBlob(deps, place, state.blob)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'BLOB_NOT_FOUND') return 'missing'
    throw error
  }
}

function patchSide(state: State, bytes: Uint8Array | 'missing' | null): PatchSide {
  return { state, bytes: bytes === 'missing' ? null : bytes }
}

function bytesToCompare(entry: EntryRow): number {
  if (withheldOf(entry) !== null) return 0
  return [entry.before, entry.after].reduce(
    (sum, state) => sum + (state.kind === 'file' ? state.sizeBytes : 0),
    0,
  )
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * The blob that a path was before or after a turn.
 * @throws PATH_NOT_FOUND, DIFF_UNAVAILABLE with `why` when there are no bytes to give
 */
export async function getSideBlob(
  deps: Deps,
  place: TurnPlace,
  path: RelPath,
  side: 'before' | 'after',
): Promise<BlobId> {
  const entry = await getEntry(deps, place.turn, path)
  const state = entry[side]
  if (state.kind !== 'file') throw new DomainError('DIFF_UNAVAILABLE', { why: state.kind })
  if (entry.sealed || isSealed(state.blob)) throw new DomainError('DIFF_UNAVAILABLE', { why: 'sealed' })
  return state.blob
}

/** @throws BLOB_NOT_FOUND when its bytes are not here */
export function readBlob(deps: Deps, place: TurnPlace, blob: BlobId): Promise<Uint8Array> {
  return readPlainBlob(deps, place, blob)
}
