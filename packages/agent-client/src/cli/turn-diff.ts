import {
  type Change,
  DomainError,
  type Entry,
  equalStates,
  type FilePatch,
  filePatch,
  isWithin,
  type PatchSide,
  type RelPath,
  type State,
} from '@turnback/core'
import { toEntries } from '#capture/entries.ts'
import type { Deps, TurnRow, Workspace } from '#ports.ts'
import { sha256 } from '#restore/facts.ts'
import type { Context } from './context.ts'
import { onOneLine } from './visible.ts'

/** Bigger files are named with their sizes and not compared by lines. */
const DIFF_BYTES = 8 * 1024 * 1024

interface PathChange {
  readonly path: RelPath
  readonly before: State
  readonly after: State
}

/** What one turn itself did, path by path. An open one's changes are those that scans have found so far. */
export function changesOfTurn(deps: Pick<Deps, 'log'>, workspace: Workspace, turn: TurnRow): Entry[] {
  if (!turn.isOpen) return deps.log.getManifest(turn.turn).entries
  const own = deps.log
    .listChanges(workspace.id)
    .filter((change) => change.turn === turn.turn || change.sharedBy.includes(turn.turn))
  return toEntries(own)
}

/**
 * From the tree at one turn's end to the tree at another's, whichever came first.
 * @throws HISTORY_GAP when what lies between was removed
 */
export function changesBetween(deps: Deps, workspace: Workspace, from: TurnRow, to: TurnRow): PathChange[] {
  const [start, end] = [endOf(from), endOf(to)]
  if (start > end) return changesBetween(deps, workspace, to, from).map(turnedRound)
  if (start < (deps.log.findGap(workspace.id)?.scan ?? 0))
    throw new DomainError('HISTORY_GAP', { turn: from.turn })
  const within = <T extends { readonly scan: number }>(change: T): boolean =>
    change.scan > start && change.scan <= end
  const written = deps.log
    .listRestores(workspace.id)
    .filter(({ detail }) => within(detail))
    .flatMap(({ turn, detail }) =>
      deps.log.getManifest(turn).entries.map((entry) => ({ ...entry, scan: detail.scan })),
    )
  return foldChanges([...deps.log.listChanges(workspace.id).filter(within), ...written])
}

function endOf(turn: TurnRow): number {
  return turn.endScan ?? Number.POSITIVE_INFINITY
}

function turnedRound({ path, before, after }: PathChange): PathChange {
  return { path, before: after, after: before }
}

/** First state and last state of each path, left out where they are the same. */
function foldChanges(changes: readonly Pick<Change, 'path' | 'scan' | 'before' | 'after'>[]): PathChange[] {
  const folded = new Map<RelPath, PathChange>()
  for (const { path, before, after } of changes.toSorted((a, b) => a.scan - b.scan))
    folded.set(path, { path, before: folded.get(path)?.before ?? before, after })
  return [...folded.values()].filter((change) => !equalStates(change.before, change.after))
}

/**
 * One file's lost bytes are no reason to withhold the others' patches.
 * @param paths named paths, a folder meaning all below it; none for all
 * @param onLost told of each side whose bytes are gone or damaged: its file counts as binary
 */
export function patchesOf(
  deps: Deps,
  changes: readonly PathChange[],
  paths: readonly RelPath[],
  onLost: (path: RelPath, fault: DomainError) => void,
): FilePatch[] {
  const sideOf = (path: RelPath, state: State): PatchSide => {
    if (state.kind !== 'file' || state.sizeBytes > DIFF_BYTES) return { state, bytes: null }
    try {
      return { state, bytes: deps.blobs.read(state.blob) }
    } catch (error) {
      if (!isLoss(error)) throw error
      onLost(path, error)
      return { state, bytes: null }
    }
  }
  return changes
    .filter(({ path }) => paths.length === 0 || paths.some((folder) => isWithin(path, folder)))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, before, after }) => filePatch(path, sideOf(path, before), sideOf(path, after), sha256))
}

function isLoss(error: unknown): error is DomainError {
  if (!(error instanceof DomainError)) return false
  return error.code === 'BLOB_NOT_FOUND' || error.code === 'BLOB_HASH_MISMATCH'
}

/** Says on standard error whose patch is missing, and why. */
export function sayLost(context: Pick<Context, 'talk'>): (path: RelPath, fault: DomainError) => void {
  return (path, { message, code }) =>
    context.talk(`${onOneLine(path)} is shown without a patch: ${message} (${code})`)
}
