import type { TurnId } from '#ids.ts'
import type { RestoreStatus } from '#manifest/manifest.ts'
import type { RemovedTurn } from './gap.ts'
import type { RestoreFacts, TurnFacts } from './turn-facts.ts'
import { isWork } from './turn-facts.ts'

/** Whether a turn is undone (contract rule 7). */
export type UndoneMark = 'no' | 'partly' | 'yes'

const RANK: Readonly<Record<UndoneMark, number>> = { no: 0, partly: 1, yes: 2 }

/** The marks of all turns that any restore in force covers; a turn that is not in the map has mark `no`. */
export function undoneMarks(restores: readonly RestoreFacts[]): ReadonlyMap<TurnId, UndoneMark> {
  const marks = new Map<TurnId, UndoneMark>()
  const inForce = restoresInForce(restores)
  for (const restore of restores) {
    if (!inForce.has(restore.turn)) continue
    const given = markGiven(restore.isWhole, restore.status)
    for (const turn of restore.of) {
      if (RANK[given] > RANK[marks.get(turn) ?? 'no']) marks.set(turn, given)
    }
  }
  return marks
}

/**
 * The turns of `scope` whose mark a restore raises: what its `restore.of` lists.
 * @param scope turns of the restore's scope; agent and task turns only
 */
export function newlyMarked(
  scope: readonly TurnId[],
  marks: ReadonlyMap<TurnId, UndoneMark>,
  isWhole: boolean,
  status: RestoreStatus,
): TurnId[] {
  const given = markGiven(isWhole, status)
  return scope.filter((turn) => RANK[given] > RANK[marks.get(turn) ?? 'no'])
}

/**
 * The turn that `undo` takes: the latest agent or task turn not yet undone, of one session if that is given.
 * @param removed turns that retention removed: one of them is found too, and cannot be undone then
 */
export function findNextUndo(
  turns: readonly TurnFacts[],
  restores: readonly RestoreFacts[],
  session: string | null = null,
  removed: readonly RemovedTurn[] = [],
): TurnId | null {
  const marks = undoneMarks(restores)
  let found: TurnFacts | null = null
  for (const turn of [...turns, ...removed.filter((turn) => !turn.isUndone)]) {
    if (!isWork(turn.kind) || marks.get(turn.turn) === 'yes') continue
    if (session !== null && turn.session !== session) continue
    if (found === null || turn.number > found.number) found = turn
  }
  return found?.turn ?? null
}

/**
 * The restore that `redo` takes back: the latest one in force that is no taking back itself and that is
 * newer than the last agent or task turn that changed something. Null when there is none.
 * @param removed turns that retention removed: one of them is found too, and cannot be redone then
 */
export function findNextRedo(
  turns: readonly TurnFacts[],
  restores: readonly RestoreFacts[],
  removed: readonly RemovedTurn[] = [],
): TurnId | null {
  const lastWork = [...turns, ...removed].reduce(
    (last, turn) => (isWork(turn.kind) && turn.hasChanges ? Math.max(last, turn.number) : last),
    0,
  )
  const inForce = restoresInForce(restores)
  const isOpen = (restore: RestoreFacts): boolean => restore.takenBack === null && inForce.has(restore.turn)
  let found: Pick<RestoreFacts, 'turn' | 'number'> | null = null
  for (const restore of [
    ...restores.filter(isOpen),
    ...removed.filter((turn) => turn.kind === 'restore' && !turn.isUndone),
  ]) {
    if (restore.number < lastWork) continue
    if (found === null || restore.number > found.number) found = restore
  }
  return found?.turn ?? null
}

/**
 * What is to be remembered of turns that are about to be removed.
 * @param turns the turns that go
 * @param restores all restores that are in the log, those that go too
 */
export function rememberRemoved(
  turns: readonly TurnFacts[],
  restores: readonly RestoreFacts[],
): RemovedTurn[] {
  const marks = undoneMarks(restores)
  const inForce = restoresInForce(restores)
  const takesBack = new Set(restores.flatMap((restore) => (restore.takenBack === null ? [] : [restore.turn])))
  return turns.map((turn) => ({
    ...turn,
    isUndone:
      turn.kind === 'restore'
        ? takesBack.has(turn.turn) || !inForce.has(turn.turn)
        : !turn.hasChanges || marks.get(turn.turn) === 'yes',
  }))
}

/** Restores that came to an end and that no restore in force has taken back. */
function restoresInForce(restores: readonly RestoreFacts[]): ReadonlySet<TurnId> {
  const inForce = new Set<TurnId>()
  const takenBack = new Set<TurnId>()
  // Newest first: a taking back is always newer than what it takes back.
  for (const restore of restores.toSorted((a, b) => b.number - a.number)) {
    if (!isStep(restore.status) || takenBack.has(restore.turn)) continue
    inForce.add(restore.turn)
    // Taking back named paths only leaves the restore in force for the others.
    if (restore.takenBack !== null && restore.isWhole) takenBack.add(restore.takenBack)
  }
  return inForce
}

function isStep(status: RestoreStatus): boolean {
  switch (status) {
    case 'done':
    case 'partly-done':
    case 'nothing-to-do':
      return true
    case 'refused':
    case 'failed':
      return false
  }
}

function markGiven(isWhole: boolean, status: RestoreStatus): UndoneMark {
  if (!isStep(status)) return 'no'
  if (isWhole) return status === 'partly-done' ? 'partly' : 'yes'
  // Named paths of which none moved: nothing of the turn was undone.
  return status === 'nothing-to-do' ? 'no' : 'partly'
}
