import { type BlobId, invariant, makeId, type RelPath, type State, type TurnId } from '@turnback/core'
import type { CaptureDeps, NewChange, Observation } from '#capture-ports.ts'
import type { GitState, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import { attributeAll, makeSuspect, type Owner, type Suspect } from './attribute.ts'
import { countEntries, toEntries } from './entries.ts'

export interface RecordedScan {
  readonly scan: number
  readonly outside: TurnId | null
  /** What of it is nobody's. */
  readonly outsidePaths: readonly RelPath[]
}

/** A turn whose end was recorded by a quick look: what it changed until then is its own still. */
export interface JustClosed {
  readonly turn: TurnRow
  /** What was changed later than this is not its work; milliseconds since 1970. */
  readonly untilMs: number
}

export interface RecordOptions {
  /** The scan's number when the known tree was read: nobody else may have looked meanwhile. */
  readonly expectedScan: number
  /** Open turns that are being closed by us and not by their agent. */
  readonly late: ReadonlySet<TurnId>
  readonly git: GitState
  readonly justClosed: JustClosed | null
  /** The last event before the look began; null when only some paths were looked at. */
  readonly lastEvent: number | null
}

/**
 * Writes one observation into the log: pushes each difference to whose it is, and remembers the tree. Inside a
 * transaction.
 */
export function recordScan(
  deps: CaptureDeps,
  workspace: Workspace,
  observation: Observation,
  options: RecordOptions,
): RecordedScan {
  const { captureLog, log } = deps
  deps.blobs.flush()
  deps.blobs.confirm(listBlobs(observation))
  const scan = captureLog.takeScan(workspace.id)
  invariant(scan === options.expectedScan, 'the lease keeps others from looking at the same time')
  const openTurns = log.listOpenTurns(workspace.id)
  const suspects = openTurns.map((turn) =>
    makeSuspect(turn, log.listToolEvents(turn.turn), scan, options.late.has(turn.turn)),
  )
  const { justClosed } = options
  if (justClosed !== null) suspects.push(suspectOf(justClosed, log.listToolEvents(justClosed.turn.turn)))
  const owned = attributeAll(observation.differences, suspects)
  const outsidePaths = owned.flatMap(({ owner, difference }) =>
    owner.kind === 'outside' ? [difference.path] : [],
  )
  const outside = outsidePaths.length > 0 ? openOutsideTurn(deps, workspace, scan, options.git) : null
  const unseen = new Set(openTurns.filter(({ isUnseen }) => isUnseen).map(({ turn }) => turn))
  const changes = owned.map(({ difference, owner }): NewChange => {
    const { path, after } = difference
    const isBlind = owner.kind === 'turn' && unseen.has(owner.turn)
    const before = isBlind ? NOT_KNOWN : difference.before
    return { path, scan, before, after, ...toColumns(owner, outside) }
  })
  captureLog.insertChanges(workspace.id, changes)
  captureLog.saveKnown(workspace.id, observation.folders)
  captureLog.addSealedPaths(workspace.id, observation.sealed)
  if (outside !== null) closeOutsideTurn(deps, outside, scan, observation, options.git)
  if (justClosed !== null && changes.some((change) => isOf(change, justClosed.turn.turn)))
    extend(deps, justClosed.turn, scan)
  // What came while this looked may be of something that it passed before: it counts for the next look too.
  captureLog.carryEvents(workspace.id, scan, options.lastEvent ?? 0)
  if (options.lastEvent !== null) captureLog.markSeen(workspace.id)
  return { scan, outside, outsidePaths }
}

/** Of a path that may have been changed before its turn began, when nobody looked then. */
const NOT_KNOWN: State = { kind: 'skipped', reason: 'budget' }

/**
 * Files are stamped by a clock that ticks coarsely, every 10 ms at 100 Hz: a stamp may be this much earlier than the write,
 * so shortly before a look "before" and "after" can not be told.
 */
export const STAMP_TICK_MS = 10

function suspectOf({ turn, untilMs }: JustClosed, events: readonly ToolEvent[]): Suspect {
  invariant(turn.endScan !== null, 'a closed turn has an end')
  const suspect = makeSuspect(turn, events, turn.endScan, false)
  // Before it began nobody's watcher may have heard of it either: then it is not the turn's.
  const notBeforeMs = Date.parse(turn.startedAt) - STAMP_TICK_MS
  return { ...suspect, notBeforeMs, notAfterMs: untilMs, isOver: true }
}

function isOf(change: NewChange, turn: TurnId): boolean {
  return change.turn === turn || change.sharedBy.includes(turn)
}

function extend(deps: CaptureDeps, turn: TurnRow, scan: number): void {
  const counts = countEntries(toEntries(deps.captureLog.listChangesOf(turn)))
  deps.captureLog.extendTurn(turn.turn, scan, counts)
}

function toColumns(owner: Owner, outside: TurnId | null): Pick<NewChange, 'turn' | 'source' | 'sharedBy'> {
  switch (owner.kind) {
    case 'turn':
      return { turn: owner.turn, source: owner.source, sharedBy: [] }
    case 'shared': {
      const first = owner.turns[0]
      invariant(first !== undefined, 'a shared change has turns')
      return { turn: first, source: 'shared', sharedBy: owner.turns }
    }
    case 'outside':
      invariant(outside !== null, 'an outside change has its turn')
      return { turn: outside, source: 'outside', sharedBy: [] }
  }
}

function openOutsideTurn(deps: CaptureDeps, workspace: Workspace, scan: number, git: GitState): TurnId {
  const now = deps.clock.nowMs()
  const turn = makeId('t', now, deps.random(10))
  deps.captureLog.insertTurn({
    turn,
    workspace: workspace.id,
    kind: 'outside',
    session: null,
    key: null,
    agent: null,
    prompt: null,
    label: null,
    task: null,
    startedAt: new Date(now).toISOString(),
    headBefore: git.head,
    branch: git.branch,
    operation: git.operation,
    // Its only scan is the one that finds it: it began with the scan before.
    beginScan: scan - 1,
    paths: null,
    lateStart: false,
    incomplete: null,
    agentProcess: null,
    isUnseen: false,
    missed: null,
  })
  return turn
}

function closeOutsideTurn(
  deps: CaptureDeps,
  turn: TurnId,
  scan: number,
  observation: Observation,
  git: GitState,
): void {
  const row = deps.log.findTurn(turn)
  invariant(row !== null, 'the outside turn was just made')
  deps.captureLog.closeTurn({
    turn,
    endedAt: row.startedAt,
    endReason: null,
    lateEnd: false,
    headAfter: git.head,
    branch: git.branch,
    lastMessage: null,
    endScan: scan,
    ...countEntries(toEntries(deps.captureLog.listChangesOf(row))),
    incomplete: observation.incomplete,
    skipped: deps.captureLog.summariseKnown(row.workspace).skipped.length,
  })
}

/** Roots of other workspaces that lie below this one. */
export function nestedRoots(deps: Pick<CaptureDeps, 'log'>, workspace: Workspace): Set<RelPath> {
  const roots = deps.log.listWorkspaces().map(({ root }) => root)
  return new Set(roots.filter((root) => root.startsWith(`${workspace.root}/`)))
}

function* listBlobs({ folders }: Observation): Generator<BlobId> {
  for (const folder of folders.values()) {
    for (const { state } of folder?.entries.values() ?? []) if (state.kind === 'file') yield state.blob
  }
}
