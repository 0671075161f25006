import { equalStates, type KeptPath, type RelPath, type State, type TurnId } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'
import type { RolledBack } from './roll-back.ts'
import type { TaskPorts } from './task.ts'

/** A path that is not as it was before the first try. */
interface Left {
  readonly kept: KeptPath
  readonly isFolder: boolean
}

/**
 * What a program did after somebody else had closed its turn is in no turn of the task's, so it is not taken back. It must
 * not be said to be: what differs from before the first try is listed as kept.
 */
export async function addLeftBehind(
  { deps, workspace }: Pick<TaskPorts, 'deps' | 'workspace'>,
  first: TurnId,
  back: RolledBack,
): Promise<RolledBack> {
  const { kept, directories } = back.leftovers
  const known = new Set<RelPath>([...kept.map(({ path }) => path), ...directories])
  const left = (await listLeft(deps, workspace, first)).filter((each) => !known.has(each.kept.path))
  const leftovers = {
    ...back.leftovers,
    kept: [...kept, ...left.filter(({ isFolder }) => !isFolder).map((each) => each.kept)],
    directories: [...directories, ...left.filter(({ isFolder }) => isFolder).map((each) => each.kept.path)],
  }
  return { ...back, leftovers, isWhole: back.isWhole && left.length === 0 }
}

async function listLeft(deps: ClientDeps, workspace: Workspace, first: TurnId): Promise<Left[]> {
  const { tree } = await deps.leases.run(workspace, 'capture', (lease) => deps.capture.scan(lease, workspace))
  const row = deps.log.findTurn(first)
  if (row === null) throw new Error('invariant: the turn of a try is in the log')
  const changed = new Map<RelPath, { readonly before: State; readonly kept: KeptPath }>()
  const changes = deps.log.listChangesSince(workspace.id, row.beginScan + 1)
  for (const { path, before, turn, session } of changes.toSorted((a, b) => a.scan - b.scan)) {
    const isOthers = session !== null && session !== row.session
    const kept: KeptPath = isOthers
      ? { path, reason: 'owned-by-other-session', turn, session }
      : { path, reason: 'unknown-writer', turn }
    changed.set(path, { before: changed.get(path)?.before ?? before, kept })
  }
  return [...changed.values()]
    .map(({ before, kept }) => ({
      before,
      kept,
      after: tree.get(kept.path) ?? ({ kind: 'absent' } as const),
    }))
    .filter(({ before, after }) => !equalStates(before, after))
    .map(({ before, kept, after }) => ({
      kept,
      isFolder: isFolderOrNothing(before) && isFolderOrNothing(after),
    }))
}

function isFolderOrNothing({ kind }: State): boolean {
  return kind === 'dir' || kind === 'absent'
}
