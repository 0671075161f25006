import {
  type Decision,
  DomainError,
  decideTurn,
  invariant,
  type Loss,
  makeId,
  type OwnEnd,
  type TurnId,
  type TurnKind,
} from '@turnback/core'
import { type CaptureDeps, LookTooLate, type Missed } from '#capture-ports.ts'
import type { GitState, Lease, Leases, TurnRow, Workspace } from '#ports.ts'
import { closePlanned, closeTurn, turnsOf } from './close-turn.ts'
import { noteInterruptions } from './interruption.ts'
import { lookAtTree } from './look.ts'
import { lossesAtBegin, toMissed } from './losses.ts'
import { findAgent, findSession, listAbandoned, type PlannedClose, type Session } from './session.ts'
import { signClosedTurns } from './sign-turns.ts'

export interface BeginRequest {
  readonly session: string
  readonly key: string | null
  readonly kind: Extract<TurnKind, 'agent' | 'task'>
  readonly agent: { readonly name: string; readonly version: string | null } | null
  readonly prompt: string | null
  readonly task: string | null
  /** The agent's process, when somebody said which that is. */
  readonly agentPid: number | null
  /** The first news of a turn that was already under way. */
  readonly lateStart: boolean
  /** When the agent waits no longer; null to take the time it takes. */
  readonly deadlineMs: number | null
  /** When a walk over the tree that is not done by then is given up, with {@link LookTooLate}. */
  readonly giveUpMs?: number
  /** Called before anything is written down; throws when whoever asked has given up and does it another way. */
  readonly confirm?: () => void
  /** It is begun for news of it: one that is open by now is gone on with, also without a key. */
  readonly isForNews?: boolean
}

export interface Begun {
  readonly turn: TurnId
  readonly number: number
  /** Not everything could be looked at. */
  readonly partial: boolean
  readonly lateStart: boolean
  /** What is known already that a restore of this turn can not give back. */
  readonly notRestorable: readonly Loss[]
  readonly statted: number
  readonly hashed: number
}

/** Begins a turn: looks at the tree before the agent acts, so that what it finds is nobody's of this turn. */
export async function beginTurn(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: BeginRequest,
): Promise<Begun> {
  noteInterruptions(deps, workspace, request.session)
  const session = findSession(deps, workspace, request.session)
  const { open, close } = decideBegin(session, request)
  if (open === null) return deps.log.transact(() => goOn(deps, session, request))
  return openTurn(deps, lease, workspace, request, planClose(session, close))
}

/**
 * The same for an agent that waits so long and no longer (contract rule 2). What is not read by then is left out; and
 * when somebody else has the tree all that time, or not even its names are through by then, the turn begins without a
 * look at it.
 */
export async function beginTurnWithin(
  deps: CaptureDeps & { readonly leases: Leases },
  workspace: Workspace,
  request: Omit<BeginRequest, 'deadlineMs'>,
  seconds: number,
): Promise<Begun> {
  const deadlineMs = deps.clock.nowMs() + seconds * 1000
  // Who has no time left for reading still has it for names: without them nothing at all is known.
  const giveUpMs = deps.clock.nowMs() + Math.max(seconds, 1) * 1000
  try {
    return await deps.leases.run(
      workspace,
      'capture',
      (lease) => beginTurn(deps, lease, workspace, { ...request, deadlineMs, giveUpMs }),
      seconds,
    )
  } catch (error) {
    if (!isHeldByOther(error) && !(error instanceof LookTooLate)) throw error
  }
  const prompt = request.prompt === null ? null : await deps.secrets.mask(request.prompt)
  return deps.log.transact(() => {
    request.confirm?.()
    return beginUnseen(deps, workspace, { ...request, prompt })
  })
}

function decideBegin(
  { open, state }: Session,
  { key, isForNews = false }: Pick<BeginRequest, 'key' | 'isForNews'>,
): Pick<Decision, 'open' | 'close'> {
  const isOpenNow = isForNews && open !== null && (key === null || open.key === key)
  return isOpenNow ? { open: null, close: null } : decideTurn(state, { type: 'begin', key })
}

export function isHeldByOther(error: unknown): boolean {
  return error instanceof DomainError && (error.code === 'STORE_LOCKED' || error.code === 'RESTORE_RUNNING')
}

/** @param planned the session's turn that is open still, with how it is to be closed by the same look */
async function openTurn(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  request: BeginRequest,
  planned: readonly PlannedClose[],
): Promise<Begun> {
  const prompt = request.prompt === null ? null : await deps.secrets.mask(request.prompt)
  const closing = [...planned, ...listAbandoned(deps, workspace, request.session)]
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: false,
    deadlineMs: request.deadlineMs,
    ...(request.giveUpMs === undefined ? {} : { giveUpMs: request.giveUpMs }),
    late: turnsOf(closing),
  })
  const { observation, git } = looked
  return deps.log.transact(() => {
    request.confirm?.()
    const { scan, outsidePaths } = looked.record()
    closePlanned(deps, closing, { scan, observation, git })
    const { incomplete } = observation
    const missed = request.lateStart ? toMissed(outsidePaths) : null
    const seen = { incomplete, missed, scan, git, isUnseen: false }
    return {
      ...insertTurn(deps, workspace, { ...request, prompt }, seen),
      partial: incomplete !== null,
      lateStart: request.lateStart,
      notRestorable: lossesAtBegin(missed, observation.skipped),
      statted: observation.statted,
      hashed: observation.hashed,
    }
  })
}

/** The same key is the same open turn: nothing is looked at again. */
function goOn(deps: CaptureDeps, { open }: Session, { agentPid }: Pick<BeginRequest, 'agentPid'>): Begun {
  invariant(open !== null, 'a turn that goes on is open')
  const agent = findAgent(deps, agentPid)
  if (agent !== null) deps.captureLog.setAgent(open.turn, agent)
  const { incomplete, lateStart, missed } = deps.captureLog.getFacts(open.turn)
  return {
    turn: open.turn,
    number: open.number,
    partial: incomplete !== null,
    lateStart,
    notRestorable: lossesAtBegin(missed, []),
    statted: 0,
    hashed: 0,
  }
}

const BEGUN_BLIND = 'the tree was in use by somebody else and was not looked at when the turn began'
const CLOSED_BLIND = 'the tree was in use by somebody else and was not looked at when the turn was closed'

/**
 * Begins a turn on what the last scan knew. What changed before this moment is told by its time to be nobody's; of what
 * changes after it and before the next scan, the state before is taken as not known.
 */
function beginUnseen(
  deps: CaptureDeps,
  workspace: Workspace,
  request: Omit<BeginRequest, 'deadlineMs'>,
): Begun {
  const session = findSession(deps, workspace, request.session)
  const { open, close } = decideBegin(session, request)
  if (open === null) return goOn(deps, session, request)
  const git = deps.git(workspace.root)
  const scan = deps.captureLog.peekScan(workspace.id) - 1
  const observation = { incomplete: CLOSED_BLIND }
  closePlanned(deps, planClose(session, close), { scan, observation, git })
  const seen = { incomplete: BEGUN_BLIND, missed: null, scan, git, isUnseen: true }
  const made = insertTurn(deps, workspace, { ...request, lateStart: true }, seen)
  return { ...made, partial: true, lateStart: true, notRestorable: [], statted: 0, hashed: 0 }
}

export function planClose({ open }: Session, close: PlannedClose['closing'] | null): PlannedClose[] {
  return open === null || close === null ? [] : [{ row: open, closing: close }]
}

function insertTurn(
  deps: CaptureDeps,
  workspace: Workspace,
  request: Omit<BeginRequest, 'deadlineMs'>,
  seen: {
    readonly incomplete: string | null
    readonly missed: Missed | null
    readonly scan: number
    readonly git: GitState
    readonly isUnseen: boolean
  },
): { turn: TurnId; number: number } {
  const now = deps.clock.nowMs()
  const turn = makeId('t', now, deps.random(10))
  const { kind, session, key, agent, prompt, task, lateStart, agentPid } = request
  const number = deps.captureLog.insertTurn({
    ...{ turn, workspace: workspace.id, kind, session, key, agent, prompt, task, lateStart },
    label: null,
    startedAt: new Date(now).toISOString(),
    headBefore: seen.git.head,
    branch: seen.git.branch,
    operation: seen.git.operation,
    beginScan: seen.scan,
    paths: null,
    incomplete: seen.incomplete,
    missed: seen.missed,
    isUnseen: seen.isUnseen,
    agentProcess: findAgent(deps, agentPid),
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
  readonly reason: OwnEnd
  readonly lastMessage: string | null
  /** Called before anything is written down; throws when whoever asked has given up and does it another way. */
  readonly confirm?: () => void
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
  const { session, key, reason } = request
  const { open, state } = findSession(deps, workspace, session)
  const { error } = decideTurn(state, { type: 'end', key, reason })
  if (error !== null || open === null)
    throw new DomainError('NO_OPEN_TURN', { session, ...(key === null ? {} : { turn: key }) })
  const lastMessage = request.lastMessage === null ? null : await deps.secrets.mask(request.lastMessage)
  const abandoned = listAbandoned(deps, workspace, session)
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: true,
    deadlineMs: null,
    late: turnsOf(abandoned),
  })
  const { observation, git } = looked
  const row = deps.log.transact(() => {
    request.confirm?.()
    const seen = { scan: looked.record().scan, observation, git }
    closePlanned(deps, abandoned, seen)
    return closeTurn(deps, open.turn, { endReason: reason, lateEnd: false, lastMessage }, seen)
  })
  if (deps.afterEnd === null) await signClosedTurns(deps, workspace)
  else deps.afterEnd(workspace, { turn: row.turn, lookedAtMs: looked.atMs })
  return { row, statted: observation.statted, hashed: observation.hashed }
}
