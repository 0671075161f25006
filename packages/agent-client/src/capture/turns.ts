import { DomainError, type EndReason, makeId, type RelPath, type TurnId, type TurnKind } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { GitState, Lease, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import { closeTurn, closingByUs, getTurn } from './close-turn.ts'
import { lookAtTree } from './look.ts'
import { signClosedTurns } from './sign-turns.ts'

export interface BeginRequest {
  readonly session: string
  readonly key: string | null
  readonly kind: Extract<TurnKind, 'agent' | 'task'>
  readonly agent: { readonly name: string; readonly version: string | null } | null
  readonly prompt: string | null
  readonly task: string | null
  readonly agentPid: number | null
  /** The first news of a turn that was already under way. */
  readonly lateStart: boolean
  /** When the agent waits no longer; null to take the time it takes. */
  readonly deadlineMs: number | null
}

export interface Begun {
  readonly turn: TurnId
  readonly number: number
  readonly partial: boolean
  readonly statted: number
  readonly hashed: number
}

const NOT_LATE: ReadonlySet<TurnId> = new Set()

/** Begins a turn: looks at the tree before the agent acts, so that what it finds is nobody's of this turn. */
export async function beginTurn(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: BeginRequest,
): Promise<Begun> {
  const open = deps.log.listOpenTurns(workspace.id).find((turn) => turn.session === request.session)
  if (open !== undefined && request.key !== null && open.key === request.key) {
    const partial = deps.captureLog.getFacts(open.turn).incomplete !== null
    return { turn: open.turn, number: open.number, partial, statted: 0, hashed: 0 }
  }
  const prompt = request.prompt === null ? null : await deps.secrets.mask(request.prompt)
  const late = open === undefined ? NOT_LATE : new Set([open.turn])
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: false,
    deadlineMs: request.deadlineMs,
    late,
  })
  const { observation, git } = looked
  return deps.log.transact(() => {
    const { scan } = looked.record()
    if (open !== undefined)
      closeTurn(deps, open.turn, closingByUs(open, 'superseded', { scan, observation, git }))
    const incomplete = observation.incomplete
    const { turn, number } = insertTurn(deps, workspace, { ...request, prompt, incomplete, scan, git })
    return {
      turn,
      number,
      partial: incomplete !== null,
      statted: observation.statted,
      hashed: observation.hashed,
    }
  })
}

function insertTurn(
  deps: CaptureDeps,
  workspace: Workspace,
  made: Omit<BeginRequest, 'deadlineMs'> & {
    readonly incomplete: string | null
    readonly scan: number
    readonly git: GitState
  },
): { turn: TurnId; number: number } {
  const now = deps.clock.nowMs()
  const turn = makeId('t', now, deps.random(10))
  const number = deps.captureLog.insertTurn({
    turn,
    workspace: workspace.id,
    kind: made.kind,
    session: made.session,
    key: made.key,
    agent: made.agent,
    prompt: made.prompt,
    label: null,
    task: made.task,
    startedAt: new Date(now).toISOString(),
    headBefore: made.git.head,
    branch: made.git.branch,
    operation: made.git.operation,
    beginScan: made.scan,
    paths: null,
    lateStart: made.lateStart,
    incomplete: made.incomplete,
    agentPid: made.agentPid,
  })
  announceHead(deps, workspace, number, now)
  return { turn, number }
}

/**
 * Leaves word of where the chain ends before the agent acts; nobody waits for it to be sent. What is altered in the log
 * afterwards no longer fits what the service was told.
 */
function announceHead(deps: CaptureDeps, workspace: Workspace, number: number, nowMs: number): void {
  const { seq, prev } = deps.captureLog.peekChain(workspace.id)
  const at = new Date(nowMs).toISOString()
  deps.log.putHeadToPush({ workspace: workspace.id, seq: seq - 1, sha256: prev, number, at })
}

export interface EndRequest {
  readonly session: string
  readonly key: string | null
  readonly reason: EndReason
  readonly lastMessage: string | null
}

export interface Ended {
  readonly row: TurnRow
  readonly statted: number
  readonly hashed: number
}

/** Ends a session's open turn and signs it. @throws NO_OPEN_TURN */
export async function endTurn(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: EndRequest,
): Promise<Ended> {
  const open = deps.log
    .listOpenTurns(workspace.id)
    .find((turn) => turn.session === request.session && (request.key === null || turn.key === request.key))
  if (open === undefined) {
    throw new DomainError('NO_OPEN_TURN', {
      session: request.session,
      ...(request.key === null ? {} : { turn: request.key }),
    })
  }
  const lastMessage = request.lastMessage === null ? null : await deps.secrets.mask(request.lastMessage)
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: true,
    deadlineMs: null,
    late: NOT_LATE,
  })
  const { observation, git } = looked
  const row = deps.log.transact(() => {
    const { scan } = looked.record()
    return closeTurn(deps, open.turn, {
      endReason: request.reason,
      lateEnd: false,
      lastMessage,
      endScan: scan,
      incomplete: observation.incomplete,
      headAfter: git.head,
      branch: git.branch,
    })
  })
  if (deps.afterEnd === null) await signClosedTurns(deps, workspace)
  else deps.afterEnd(workspace, row.turn)
  return { row, statted: observation.statted, hashed: observation.hashed }
}

/** Closes open turns that their agent did not end (contract rule 2), with a look at the tree first. */
export async function closeTurnsByUs(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  turns: readonly TurnRow[],
  reason: EndReason,
): Promise<TurnId[]> {
  if (turns.length === 0) return []
  const late = new Set(turns.map(({ turn }) => turn))
  const looked = await lookAtTree(deps, lease, workspace, { countExcluded: false, deadlineMs: null, late })
  const { observation, git } = looked
  deps.log.transact(() => {
    const { scan } = looked.record()
    for (const turn of turns)
      closeTurn(deps, turn.turn, closingByUs(turn, reason, { scan, observation, git }))
  })
  await signClosedTurns(deps, workspace)
  return [...late]
}

export interface EventRequest {
  readonly session: string
  readonly key: string | null
  readonly type: ToolEvent['type']
  readonly agent: BeginRequest['agent']
  readonly tool: string | null
  readonly command: string | null
  /** Relative to the root, in written form. */
  readonly paths: readonly RelPath[]
  readonly agentPid: number | null
}

/**
 * Takes an adapter's news of a turn. News of a turn that is not open opens it: of a key that was closed, as one
 * that continues it; news without a begin, as one that began late. The end of a session ends whatever it has open,
 * of whichever key: what it leaves open, nobody would ever close.
 */
export async function noteEvent(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: EventRequest,
): Promise<TurnId | null> {
  const isSessionEnd = request.type === 'session.end'
  const open = deps.log
    .listOpenTurns(workspace.id)
    .filter(({ session }) => session === request.session)
    .filter(({ key }) => isSessionEnd || request.key === null || key === request.key)
    .map(({ turn }) => turn)
  const [first] = open
  if (first === undefined && (isSessionEnd || request.type === 'turn.end')) return null
  const turn = first ?? (await beginTurn(deps, lease, workspace, lateBegin(request))).turn
  const noted = isSessionEnd ? open : [turn]
  const command = request.command === null ? null : await deps.secrets.mask(request.command)
  deps.log.transact(() => {
    const nextScan = deps.captureLog.peekScan(workspace.id)
    const { type, tool, paths } = request
    const atMs = deps.clock.nowMs()
    for (const each of noted)
      deps.captureLog.insertEvent({ turn: each, atMs, type, tool, command, paths, nextScan })
  })
  if (request.type === 'turn.end') {
    await endTurn(deps, lease, workspace, {
      session: request.session,
      key: request.key,
      reason: 'completed',
      lastMessage: null,
    })
  } else if (isSessionEnd) {
    const rows = noted.map((each) => getTurn(deps, each))
    await closeTurnsByUs(deps, lease, workspace, rows, 'lost')
  }
  return turn
}

function lateBegin(request: EventRequest): BeginRequest {
  return {
    session: request.session,
    key: request.key,
    kind: 'agent',
    agent: request.agent,
    prompt: null,
    task: null,
    agentPid: request.agentPid,
    // A turn's own start is on time; any other first news is late.
    lateStart: request.type !== 'turn.start',
    deadlineMs: null,
  }
}

export interface CheckpointRequest {
  readonly label: string | null
  readonly task: string | null
  /** Null for the whole tree. */
  readonly paths: readonly RelPath[] | null
}

/** A moment that can be returned to: one look at the tree, and a turn without changes of its own. */
export async function makeCheckpoint(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: CheckpointRequest,
): Promise<TurnRow> {
  const label = request.label === null ? null : await deps.secrets.mask(request.label)
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: true,
    deadlineMs: null,
    late: NOT_LATE,
  })
  const { observation, git } = looked
  const row = deps.log.transact(() => {
    const { scan } = looked.record()
    const now = deps.clock.nowMs()
    const turn = makeId('t', now, deps.random(10))
    deps.captureLog.insertTurn({
      turn,
      workspace: workspace.id,
      kind: 'checkpoint',
      session: null,
      key: null,
      agent: null,
      prompt: null,
      label,
      task: request.task,
      startedAt: new Date(now).toISOString(),
      headBefore: git.head,
      branch: git.branch,
      operation: git.operation,
      beginScan: scan,
      paths: request.paths,
      lateStart: false,
      incomplete: observation.incomplete,
      agentPid: null,
    })
    return closeTurn(deps, turn, {
      endReason: 'completed',
      lateEnd: false,
      lastMessage: null,
      endScan: scan,
      incomplete: observation.incomplete,
      headAfter: git.head,
      branch: git.branch,
    })
  })
  await signClosedTurns(deps, workspace)
  return row
}
