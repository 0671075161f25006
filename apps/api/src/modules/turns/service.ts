import { DomainError, type RelPath, type TurnId } from '@turnback/core'
import type { Deps } from '#deps.ts'
import {
  type EntryRow,
  findEntry,
  findNeighbours,
  findTurnFor,
  findTurnPlace,
  listEntryRows,
  listTurns,
  type PlacedSummary,
  type TurnFilter,
} from './queries.ts'

export function listTurnPage(
  deps: Deps,
  filter: TurnFilter,
  page: { before: number | null; limit: number },
): Promise<PlacedSummary[]> {
  return listTurns(deps.db, filter, { ...page, now: new Date(deps.clock.nowMs()) })
}

export async function getTurn(deps: Deps, personId: string, id: TurnId) {
  const found = await findTurnFor(deps.db, personId, id, new Date(deps.clock.nowMs()))
  if (found === null) throw new DomainError('TURN_NOT_FOUND')
  const { previous, next } = await findNeighbours(deps.db, found.summary.workspace, found.seq)
  return {
    summary: found.summary,
    manifest: found.head,
    envelopeSha256: found.envelopeSha256,
    receivedAt: found.receivedAt.toISOString(),
    skipped: [...found.skippedPaths],
    skippedCount: found.summary.skipped,
    previousTurn: previous,
    nextTurn: next,
  }
}

/** A turn that the person may read: what the other reads of it take. @throws TURN_NOT_FOUND */
export async function getTurnPlace(deps: Deps, personId: string, id: TurnId) {
  const place = await findTurnPlace(deps.db, personId, id)
  if (place === null) throw new DomainError('TURN_NOT_FOUND')
  return place
}

export type TurnPlace = Awaited<ReturnType<typeof getTurnPlace>>

export function listEntryPage(
  deps: Deps,
  place: TurnPlace,
  page: { after: string | null; limit: number },
): Promise<EntryRow[]> {
  return listEntryRows(deps.db, place.turn, page)
}

/** @throws PATH_NOT_FOUND when the turn did not touch it */
export async function getEntry(deps: Deps, turn: TurnId, path: RelPath): Promise<EntryRow> {
  const entry = await findEntry(deps.db, turn, path)
  if (entry === null) throw new DomainError('PATH_NOT_FOUND')
  return entry
}
