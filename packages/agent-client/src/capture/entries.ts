import {
  type Change,
  type Entry,
  equalStates,
  isSealed,
  type RelPath,
  type Source,
  type State,
  type Step,
} from '@turnback/core'

/** The strongest thing that is known of who wrote a path, first. */
const RANK: readonly Source[] = ['tool', 'shell', 'unknown', 'shared', 'outside']

/** What a turn did, one entry per path, from its changes in the order of scans. Sorted by path. */
export function toEntries(changes: readonly Change[]): Entry[] {
  const byPath = new Map<RelPath, Change[]>()
  for (const change of changes) {
    const group = byPath.get(change.path)
    if (group === undefined) byPath.set(change.path, [change])
    else group.push(change)
  }
  return [...byPath.values()].map(toEntry).sort((a, b) => (a.path < b.path ? -1 : 1))
}

function toEntry(changes: readonly Change[]): Entry {
  const first = changes[0]
  const last = changes.at(-1)
  if (first === undefined || last === undefined) throw new Error('invariant: a path has a change')
  const steps = changes.map(toStep)
  return {
    path: first.path,
    before: first.before,
    after: last.after,
    source: RANK.find((source) => changes.some((change) => change.source === source)) ?? 'unknown',
    scan: first.scan,
    steps: steps.length === 1 ? null : steps,
    sealed: changes.some(({ before, after }) => isSealedState(before) || isSealedState(after)),
  }
}

function toStep({ scan, before, after, source }: Change): Step {
  return { scan, before, after, source }
}

function isSealedState(state: State): boolean {
  return state.kind === 'file' && isSealed(state.blob)
}

export interface Counts {
  readonly entries: number
  readonly created: number
  readonly changed: number
  readonly deleted: number
}

/** Files and links that came, changed and went; `entries` counts directories too. */
export function countEntries(entries: readonly Pick<Entry, 'before' | 'after'>[]): Counts {
  let created = 0
  let changed = 0
  let deleted = 0
  for (const { before, after } of entries) {
    const isFolder = [before, after].every((state) => state.kind === 'dir' || state.kind === 'absent')
    if (isFolder || equalStates(before, after)) continue
    if (before.kind === 'absent') created++
    else if (after.kind === 'absent') deleted++
    else changed++
  }
  return { entries: entries.length, created, changed, deleted }
}
