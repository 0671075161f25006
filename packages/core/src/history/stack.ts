import type { RelPath } from '#path/rel-path.ts'
import type { Change, RestoreEvent } from './change.ts'

/** The live changes of one path in the order of scans: the first is the oldest, the last is the top. */
export type Stack = readonly Change[]

/** Per path its live changes. A path without live changes is not in the map. */
export type LiveStacks = ReadonlyMap<RelPath, Stack>

/**
 * Folds the log into the stacks of live changes (contract rules 3 and 6): every scan's change is pushed,
 * every restore takes off `popped`, puts back `putBack` at its sorted place and adds `pushed`.
 *
 * @param changes in any order; those of kind `restore` are passed over, since they come in by their events
 * @param events in any order
 * @param untilScan fold only what happened up to this scan, it included: the stacks as they were right after
 *   it. A restore's own number gives the stacks as that restore left them.
 */
export function liveStacks(
  changes: Iterable<Change>,
  events: readonly RestoreEvent[],
  untilScan: number = Number.POSITIVE_INFINITY,
): LiveStacks {
  const known = new Map<RelPath, Change[]>()
  const add = (change: Change): void => {
    const list = known.get(change.path)
    if (list === undefined) known.set(change.path, [change])
    else list.push(change)
  }
  for (const change of changes) if (change.kind !== 'restore' && change.scan <= untilScan) add(change)

  // A restore names only changes older than itself, so it is enough to know what the last word on each was.
  const dead = new Map<RelPath, Set<number>>()
  for (const event of events.toSorted((a, b) => a.scan - b.scan)) {
    if (event.scan > untilScan) break
    for (const { path, scan } of event.popped) {
      const scans = dead.get(path)
      if (scans === undefined) dead.set(path, new Set([scan]))
      else scans.add(scan)
    }
    for (const { path, scan } of event.putBack) dead.get(path)?.delete(scan)
    for (const change of changesOfRestore(event)) add(change)
  }

  const live = new Map<RelPath, Stack>()
  for (const [path, list] of known) {
    const scans = dead.get(path)
    const left = scans === undefined ? list : list.filter((change) => !scans.has(change.scan))
    if (left.length > 0) live.set(path, sortedByScan(left))
  }
  return live
}

/** The changes that a restore pushed, as entries of a stack: of no session, so elsewhere a person's. */
export function changesOfRestore(event: RestoreEvent): Change[] {
  return event.pushed.map(({ path, before, after }) => ({
    path,
    scan: event.scan,
    turn: event.turn,
    kind: 'restore',
    session: null,
    source: 'outside',
    sharedBy: [],
    before,
    after,
  }))
}

function sortedByScan(list: Change[]): Change[] {
  for (let i = 1; i < list.length; i++) {
    if ((list[i - 1]?.scan ?? 0) > (list[i]?.scan ?? 0)) return list.toSorted((a, b) => a.scan - b.scan)
  }
  return list
}
