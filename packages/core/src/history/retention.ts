import type { TurnId } from '#ids.ts'
import type { TurnKind } from '#manifest/manifest.ts'
import { isWork } from './turn-facts.ts'

/** A turn as retention sees it. Times in milliseconds since 1970. */
export interface KeptTurn {
  readonly turn: TurnId
  readonly kind: TurnKind
  readonly beginScan: number
  /** Null while it is open. */
  readonly endScan: number | null
  /** Null while it is open. */
  readonly endedMs: number | null
  readonly isPinned: boolean
  /** False as long as it is to be signed or to be sent. */
  readonly isSent: boolean
}

/** A restore as retention sees it, beside its turn. */
export interface KeptRestore {
  readonly turn: TurnId
  readonly scan: number
  readonly endedMs: number
  /** The lowest scan of all changes that it took off or put back; its own when there is none. */
  readonly needs: number
}

export interface RetentionInput {
  /** Turns that lie behind the gap that there is already, in any order. */
  readonly turns: readonly KeptTurn[]
  readonly restores: readonly KeptRestore[]
  readonly nowMs: number
}

export interface RetentionWish {
  /** Turns that ended before this moment go. */
  readonly beforeMs: number
  /** At most this many turns stay. */
  readonly turns: number
}

/** A restore this young keeps all that taking it back needs, whatever the limits say. */
const RESTORE_BACKUP_MS = 14 * 86_400_000

/** Names of the rules below. */
export type KeeperName = 'openTurns' | 'newestTurns' | 'youngRestores' | 'pinnedRestores' | 'unsentTurns'

/** What is never removed, each rule by itself: the lowest scan that it keeps, or null when it keeps nothing. */
export type RetentionRule = (input: RetentionInput) => number | null

/** An open turn and everything later. */
const openTurns: RetentionRule = ({ turns }) =>
  lowest(turns.filter((turn) => turn.endScan === null).map(firstScan))

/** The newest complete turn, and the newest that did something for somebody. */
const newestTurns: RetentionRule = ({ turns }) => {
  const complete = turns.filter((turn) => turn.endScan !== null).toSorted((a, b) => end(a) - end(b))
  const newest = [complete.at(-1), complete.findLast((turn) => isWork(turn.kind))]
  return lowest(newest.flatMap((turn) => (turn === undefined ? [] : [firstScan(turn)])))
}

/** A young restore: the scan before it, which is its backup, and the changes that it took off or put back. */
const youngRestores: RetentionRule = ({ restores, nowMs }) =>
  lowest(restores.filter((restore) => restore.endedMs > nowMs - RESTORE_BACKUP_MS).map(neededBy))

/** A pinned restore is taken back by its changes; a listing would not do. */
const pinnedRestores: RetentionRule = ({ turns, restores }) => {
  const pinned = new Set(turns.filter((turn) => turn.isPinned).map((turn) => turn.turn))
  return lowest(restores.filter((restore) => pinned.has(restore.turn)).map(neededBy))
}

/** A turn that is still to be signed or sent, and everything later: the chain goes out in order. */
const unsentTurns: RetentionRule = ({ turns }) => lowest(turns.filter((turn) => !turn.isSent).map(firstScan))

export const RETENTION_RULES: Readonly<Record<KeeperName, RetentionRule>> = {
  openTurns,
  newestTurns,
  youngRestores,
  pinnedRestores,
  unsentTurns,
}

/**
 * Which rules keep turns of a log, when more is wished to go than may: what holds the earliest first. The newest turns
 * are named only when nothing else keeps more than they do.
 */
export function listKeepers(input: RetentionInput): KeeperName[] {
  const names = ['openTurns', 'youngRestores', 'pinnedRestores', 'unsentTurns'] as const
  const newest = newestTurns(input) ?? Number.POSITIVE_INFINITY
  const keeping = names.flatMap((name) => {
    const scan = RETENTION_RULES[name](input)
    return scan !== null && scan < newest ? [{ name, scan }] : []
  })
  if (keeping.length === 0) return newest === Number.POSITIVE_INFINITY ? [] : ['newestTurns']
  return keeping.toSorted((a, b) => a.scan - b.scan).map(({ name }) => name)
}

/**
 * The scan up to which a workspace's log may go and is wished to go: a prefix that no turn and no restore straddles.
 * Null when nothing goes.
 */
export function chooseCut(
  input: RetentionInput,
  wish: RetentionWish,
  rules: Readonly<Record<string, RetentionRule>> = RETENTION_RULES,
): number | null {
  const kept = lowest(Object.values(rules).flatMap((rule) => rule(input) ?? []))
  const cuts = listCleanCuts(input).filter((cut) => kept === null || cut < kept)
  const young = lowest(
    input.turns.flatMap((turn) =>
      turn.endedMs === null || turn.endedMs >= wish.beforeMs ? [end(turn)] : [],
    ),
  )
  const byAge = cuts.findLast((cut) => young === null || cut < young) ?? null
  const ends = input.turns.map(end).sort((a, b) => a - b)
  const surplus = ends.length - wish.turns
  const wanted = surplus > 0 ? (ends[surplus - 1] ?? 0) : 0
  const byCount = surplus > 0 ? (cuts.find((cut) => cut >= wanted) ?? cuts.at(-1) ?? null) : null
  return byAge === null || byCount === null ? (byAge ?? byCount) : Math.max(byAge, byCount)
}

/** Ends of turns after which the log can be cut, lowest first. */
export function listCleanCuts({ turns, restores }: Pick<RetentionInput, 'turns' | 'restores'>): number[] {
  const spans = [
    ...turns.map((turn) => [turn.beginScan + 1, end(turn) - 1] as const),
    ...restores.map((restore) => [restore.needs, restore.scan - 1] as const),
  ]
    .filter(([from, to]) => from <= to)
    .sort((a, b) => a[0] - b[0])
  const cuts = [...new Set(turns.flatMap((turn) => turn.endScan ?? []))].sort((a, b) => a - b)
  let at = 0
  let covered = 0
  return cuts.filter((cut) => {
    for (let span = spans[at]; span !== undefined && span[0] <= cut; span = spans[++at])
      covered = Math.max(covered, span[1])
    return cut > covered
  })
}

/** The lowest scan whose removal would take something of the turn away. */
function firstScan(turn: KeptTurn): number {
  // An instant, like a checkpoint, is its own first scan; a turn's first own scan is the one after its begin.
  return turn.endScan === turn.beginScan ? turn.beginScan : turn.beginScan + 1
}

function neededBy(restore: KeptRestore): number {
  return Math.min(restore.needs, restore.scan - 1)
}

function end(turn: KeptTurn): number {
  return turn.endScan ?? Number.POSITIVE_INFINITY
}

function lowest(scans: readonly number[]): number | null {
  return scans.length === 0 ? null : scans.reduce((low, scan) => Math.min(low, scan))
}
