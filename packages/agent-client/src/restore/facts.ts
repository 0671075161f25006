import { createHash } from 'node:crypto'
import {
  type BlobId,
  type Change,
  DomainError,
  type PlanContent,
  type PlanInput,
  type PlanOptions,
  type RestoreFacts,
  type Tree,
  type TurnFacts,
  type TurnId,
  type WorkspaceId,
} from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'

/** Bytes above this are not compared by lines. */
const TEXT_BYTES = 8 * 1024 * 1024

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Where bytes that a plan makes (a merge) go: a run keeps them, a preview only names them. */
export type Naming = 'store' | 'name-only'

/** The log and the store as core's planning takes them. */
export function planInput(
  deps: Deps,
  workspace: Workspace,
  tree: Tree,
  request: PlanOptions,
  naming: Naming,
): PlanInput {
  return {
    request,
    changes: deps.log.listChanges(workspace.id),
    events: deps.log.listRestoreEvents(workspace.id),
    turns: listTurnFacts(deps, workspace),
    restores: listRestoreFacts(deps, workspace),
    tree,
    content: planContent(deps, workspace, naming),
    ignoresCase: deps.ignoresCase(workspace.root),
    ...findGapFor(deps, workspace, request.target),
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
  const isAnyOpen = rows.some((row) => row.isOpen)
  const changing = new Set(isAnyOpen ? deps.log.listChanges(workspace.id).flatMap(turnsOf) : [])
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

function planContent(deps: Deps, workspace: Workspace, naming: Naming): PlanContent {
  const whole = new Map<BlobId, boolean>()
  const hasBlob = (blob: BlobId): boolean => {
    const known = whole.get(blob)
    if (known !== undefined) return known
    const answer = isWhole(deps, blob)
    whole.set(blob, answer)
    return answer
  }
  return {
    hasBlob,
    readText(blob) {
      const sizeBytes = deps.blobs.findSize(blob)
      return sizeBytes === null || sizeBytes > TEXT_BYTES || !hasBlob(blob) ? null : deps.blobs.read(blob)
    },
    nameText(path, bytes) {
      const sealed = deps.log.isSealedPath(workspace.id, path)
      return naming === 'store'
        ? deps.blobs.put(workspace.id, bytes, sealed)
        : deps.blobs.idOf(workspace.id, bytes, sealed)
    },
    sha256,
  }
}

/** Read to the end and checked against its name: nothing is begun on the promise of an index. */
function isWhole(deps: Deps, blob: BlobId): boolean {
  try {
    deps.blobs.readPieces(blob, () => {})
    return true
  } catch (error) {
    if (
      error instanceof DomainError &&
      (error.code === 'BLOB_NOT_FOUND' || error.code === 'BLOB_HASH_MISMATCH')
    )
      return false
    throw error
  }
}
