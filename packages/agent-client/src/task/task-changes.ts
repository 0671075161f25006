import { equalStates, type RelPath, type State, type TurnId } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'

/** One path that a task changed, from before its first try to now. */
export interface TaskChange {
  readonly path: RelPath
  readonly before: State
  readonly after: State
  /** Somebody else changed it too since the task began, or may have. */
  readonly isOthersToo: boolean
}

/** What the tries of a task changed, all together, and is so still. Looks at the tree first. Sorted by path. */
export async function listTaskChanges(
  deps: ClientDeps,
  workspace: Workspace,
  turns: readonly TurnId[],
): Promise<TaskChange[]> {
  const { tree } = await deps.leases.run(workspace, 'capture', (lease) => deps.capture.scan(lease, workspace))
  const own = new Set<TurnId>(turns)
  const changed = new Map<RelPath, { before: State; isOthersToo: boolean }>()
  const changes = deps.log.listChangesSince(workspace.id, firstScan(deps, turns) + 1)
  for (const { path, before, turn, kind, source } of changes.toSorted((a, b) => a.scan - b.scan)) {
    const isOwn = own.has(turn) && source !== 'shared'
    const known = changed.get(path)
    if (known === undefined) changed.set(path, { before, isOthersToo: !isOwn && kind !== 'restore' })
    else known.isOthersToo ||= !isOwn && kind !== 'restore'
  }
  const touched = new Set(turns.flatMap((turn) => pathsOf(deps, turn)))
  return [...changed]
    .map(([path, { before, isOthersToo }]) => ({
      ...{ path, before, isOthersToo },
      after: tree.get(path) ?? ({ kind: 'absent' } as const),
    }))
    .filter(({ path, before, after }) => touched.has(path) && !equalStates(before, after))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

function pathsOf(deps: ClientDeps, turn: TurnId): RelPath[] {
  return deps.captureLog.listChangesOf(getRow(deps, turn)).map(({ path }) => path)
}

function firstScan(deps: ClientDeps, turns: readonly TurnId[]): number {
  return Math.min(...turns.map((turn) => getRow(deps, turn).beginScan))
}

function getRow(deps: ClientDeps, turn: TurnId): TurnRow {
  const row = deps.log.findTurn(turn)
  if (row === null) throw new Error('invariant: the turn of a try is in the log')
  return row
}
