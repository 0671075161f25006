import type { TurnId } from '#ids.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { Change } from './change.ts'
import { ownerOf } from './scope.ts'
import type { LiveStacks } from './stack.ts'
import type { TurnFacts } from './turn-facts.ts'

/** A turn that retention removed: its changes are gone, its name is not. */
export interface RemovedTurn extends TurnFacts {
  /** Of work: it was undone. Of a restore: it had been taken back, or was a taking back itself. */
  readonly isUndone: boolean
}

/** What a workspace's log no longer has at its beginning. */
export interface Gap {
  /** Every change, event and restore up to this scan, it included, was removed. */
  readonly scan: number
  /** The turns that were removed. */
  readonly turns: readonly RemovedTurn[]
  /** What the target of the plan kept of itself when it came to lie before the gap. Null when it kept nothing. */
  readonly listing: Listing | null
}

/**
 * What a checkpoint or a pinned turn keeps when the changes after it are removed: each path that they touched, as it
 * was at that moment, and what became of it up to the gap.
 */
export type Listing = ReadonlyMap<RelPath, ListedPath>

export interface ListedPath {
  /** The path at the turn's begin. */
  readonly state: State
  /** Live changes since, oldest first; neighbours that the same scopes take are one. */
  readonly later: readonly Change[]
}

/** What is about to be removed from a log. */
export interface RemovedSpan {
  /** Changes and restores up to this scan go. */
  readonly scan: number
  readonly changes: readonly Change[]
  /** What restores wrote, by scan. */
  readonly written: readonly { readonly path: RelPath; readonly scan: number; readonly before: State }[]
  /** The stacks as they are now, with everything that is in the log. */
  readonly live: LiveStacks
  /** A turn's number. */
  readonly numberOf: (turn: TurnId) => number
}

/**
 * The listing of a turn with what another removal takes away taken into it.
 * @param known what the turn has listed before; empty at first
 */
export function extendListing(known: Listing, target: TurnFacts, span: RemovedSpan): Listing {
  const first = new Map<RelPath, { readonly scan: number; readonly before: State }>()
  for (const item of [...span.changes, ...span.written]) {
    if (item.scan <= target.beginScan || item.scan > span.scan) continue
    const earlier = first.get(item.path)
    if (earlier === undefined || item.scan < earlier.scan) first.set(item.path, item)
  }
  const listing = new Map(known)
  for (const [path, { before }] of first) {
    const listed = known.get(path)
    const live = (span.live.get(path) ?? []).filter(
      (change) => change.scan > target.beginScan && change.scan <= span.scan,
    )
    listing.set(path, {
      state: listed?.state ?? before,
      later: joinNeighbours([...(listed?.later ?? []), ...live], (change) => keyOf(change, target, span)),
    })
  }
  return listing
}

/** Changes that lie on one another and that any restore of the target takes, or leaves, together. */
function joinNeighbours(changes: readonly Change[], key: (change: Change) => string): Change[] {
  const joined: { key: string; change: Change }[] = []
  for (const change of changes) {
    const last = joined.at(-1)
    const own = key(change)
    // The mode of a directory in between is what a parent is made with that has to be made again.
    if (last?.key === own && change.before.kind !== 'dir')
      last.change = { ...last.change, after: change.after }
    else joined.push({ key: own, change })
  }
  return joined.map((item) => item.change)
}

function keyOf(change: Change, target: TurnFacts, span: RemovedSpan): string {
  const owner = ownerOf(change)
  if (owner === 'person') return 'person'
  const isNamed = [change.turn, ...change.sharedBy].some((turn) => span.numberOf(turn) >= target.number)
  // A checkpoint's scope is all work after it, whosever it is; that of turns begun before it is named apart.
  if (target.kind === 'checkpoint') return JSON.stringify(['work', isNamed])
  if (owner === 'shared') return JSON.stringify(['shared', change.sharedBy])
  return JSON.stringify(['session', change.session, isNamed])
}
