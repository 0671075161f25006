import { createHash } from 'node:crypto'
import type {
  Change,
  PlanContent,
  PlanInput,
  PlanOptions,
  RestoreFacts,
  Tree,
  TurnFacts,
  TurnId,
  WorkspaceId,
} from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'
import { listConcerned } from './concerned.ts'

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Where bytes that a plan makes (a merge) go: a run keeps them, a preview only names them. */
export type Naming = 'store' | 'name-only'

/** The log and the store as core's planning takes them. */
export function planInput(
  deps: Deps,
  workspace: Workspace,
  tree: Tree,
  request: PlanOptions,
  content: PlanContent,
): PlanInput {
  const turns = listTurnFacts(deps, workspace)
  const events = deps.log.listRestoreEvents(workspace.id)
  const gap = findGapFor(deps, workspace, request.target)
  return {
    request,
    ...listConcerned(deps.log, workspace.id, { request, turns, events, tree, ...gap }),
    turns,
    restores: listRestoreFacts(deps, workspace),
    tree,
    content,
    ignoresCase: deps.ignoresCase(workspace.root),
    ...gap,
  }
}

/** What retention left of the log's beginning, and of the target if that lies before it. */
function findGapFor(deps: Deps, workspace: Workspace, target: TurnId): Pick<PlanInput, 'gap'> {
  const gap = deps.log.findGap(workspace.id)
  if (gap === null) return {}
  const turns = deps.log.listRemovedTurns(workspace.id)
  return { gap: { scan: gap.scan, turns, listing: deps.log.findListing(target) } }
}

export function listTurnFacts(deps: Deps, workspace: Workspace): TurnFacts[] {
  const rows = deps.log.listTurns(workspace.id)
  // The row of an open turn counts nothing yet.
  const open = rows.filter((row) => row.isOpen).map((row) => row.beginScan)
  const since = open.length > 0 ? deps.log.listChangesSince(workspace.id, Math.min(...open)) : []
  const changing = new Set(since.flatMap(turnsOf))
  return rows.map((row) => ({
    turn: row.turn,
    number: row.number,
    kind: row.kind,
    session: row.session,
    beginScan: row.beginScan,
    hasChanges: row.entries > 0 || changing.has(row.turn),
    paths: row.paths,
  }))
}

function turnsOf(change: Change): TurnId[] {
  return [change.turn, ...change.sharedBy]
}

export function listRestoreFacts(deps: Deps, workspace: Workspace): RestoreFacts[] {
  return listRestoreFactsOf(deps.log, workspace.id)
}

/** The same for who has no more than the log. */
export function listRestoreFactsOf(log: Deps['log'], workspace: WorkspaceId): RestoreFacts[] {
  const numbers = new Map(log.listTurns(workspace).map((row) => [row.turn, row.number]))
  // A turn before the gap keeps the mark that a restore gave it which is gone.
  const gone = log.listListed(workspace).flatMap(({ turn, undoneBy }): RestoreFacts[] => {
    if (undoneBy === null) return []
    const { restore, number, isWhole } = undoneBy
    return [{ turn: restore, number, target: turn, takenBack: null, of: [turn], isWhole, status: 'done' }]
  })
  const known = log.listRestores(workspace).map(({ turn, detail }) => ({
    turn,
    number: numbers.get(turn) ?? 0,
    target: detail.target,
    takenBack: detail.takenBack,
    of: detail.of,
    isWhole: detail.paths === null,
    status: detail.status,
  }))
  return [...gone, ...known]
}
