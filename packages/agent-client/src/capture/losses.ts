import {
  type Coverage,
  type Entry,
  type Loss,
  type LossReason,
  limits,
  type RelPath,
  type SkippedPath,
} from '@turnback/core'
import type { Missed } from '#capture-ports.ts'

/** What of a turn can not be given back, and how much of it was seen. */

type Unread = Pick<SkippedPath, 'path' | 'reason'>

export function toMissed(paths: readonly RelPath[]): Missed | null {
  return paths.length === 0 ? null : { count: paths.length, paths: paths.slice(0, limits.lossPaths) }
}

/** At the moment that a turn begins: what was changed before anybody looked, and what there was no time to read. */
export function lossesAtBegin(missed: Missed | null, skipped: readonly Unread[]): Loss[] {
  return [...missedBefore(missed), ...byReason(skipped.filter(({ reason }) => reason === 'budget'))]
}

export function countCoverage(
  entries: readonly Entry[],
  skipped: readonly Unread[],
  missed: Missed | null,
): Required<Pick<Coverage, 'changes' | 'skipped' | 'notRestorable'>> {
  const changes = { tool: 0, shell: 0, unknown: 0, shared: 0, outside: 0 }
  for (const { source } of entries) changes[source]++
  const bySkip: Coverage['skipped'] = {}
  for (const { reason } of skipped) bySkip[reason] = (bySkip[reason] ?? 0) + 1
  const unread = entries.flatMap(({ path, before, after }): Unread[] => {
    const side = before.kind === 'skipped' ? before : after
    return side.kind === 'skipped' ? [{ path, reason: side.reason }] : []
  })
  return { changes, skipped: bySkip, notRestorable: [...missedBefore(missed), ...byReason(unread)] }
}

function missedBefore(missed: Missed | null): Loss[] {
  return missed === null
    ? []
    : [{ reason: 'changed-before-start', count: missed.count, paths: [...missed.paths] }]
}

function byReason(unread: readonly Unread[]): Loss[] {
  const groups = new Map<LossReason, RelPath[]>()
  for (const { path, reason } of unread) {
    const group = groups.get(reason)
    if (group === undefined) groups.set(reason, [path])
    else group.push(path)
  }
  return [...groups].map(([reason, paths]) => ({
    reason,
    count: paths.length,
    paths: paths.slice(0, limits.lossPaths),
  }))
}
