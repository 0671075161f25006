import { decideTurn, type OwnEnd, type RelPath, type TurnEvent, type TurnId } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { Lease, Leases, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import { closeTurnsByUs } from './close-turn.ts'
import { lookAtTree } from './look.ts'
import { findAgent, findAgentBefore, findSession } from './session.ts'
import { type BeginRequest, endTurn, isHeldByOther, openTurn, planClose } from './turns.ts'

export interface EventRequest {
  readonly session: string
  /** The session that this one works for: what a sub-agent does belongs to its parent's turn. */
  readonly parentSession: string | null
  /** With a parent session, the key of the parent's turn. */
  readonly key: string | null
  readonly type: ToolEvent['type']
  readonly agent: BeginRequest['agent']
  readonly tool: string | null
  readonly command: string | null
  /** Files that the tool writes, not those that it reads. Relative to the root, in written form. */
  readonly paths: readonly RelPath[]
  readonly agentPid: number | null
  /** How the turn ended, for `turn.end`. */
  readonly reason: OwnEnd
  /** When it happened, if that is not now: news that waited somewhere, or what a transcript tells. */
  readonly atMs: number | null
}

type NoteDeps = CaptureDeps & { readonly leases: Leases }

/** A look that an agent waits for before its tool, when its turn began without one. */
const CATCH_UP_SECONDS = 1

/**
 * Takes an adapter's news of a turn; what it does is decided in core. News of an open turn waits for nobody; only what
 * opens or closes one looks at the tree. @returns the turn that it belongs to, or null
 */
export async function noteEvent(
  deps: NoteDeps,
  workspace: Workspace,
  request: EventRequest,
): Promise<TurnId | null> {
  const command = request.command === null ? null : await deps.secrets.mask(request.command)
  const news = { ...request, command, atMs: Math.min(request.atMs ?? Infinity, deps.clock.nowMs()) }
  if (news.parentSession !== null && !isOfTool(news.type)) return noteChild(deps, workspace, news)
  const known = deps.log.transact(() => noteOnly(deps, workspace, news))
  if (known === 'more')
    return deps.leases.run(workspace, 'capture', (lease) => act(deps, lease, workspace, news))
  if (known?.isUnseen === true && news.type === 'tool.before') await catchUp(deps, workspace)
  return known?.turn ?? null
}

type News = EventRequest & { readonly atMs: number }

function isOfTool(type: News['type']): boolean {
  return type === 'tool.before' || type === 'tool.after'
}

/** A sub-agent's own beginning and end are no turn's, but they show that the parent's turn is at work. */
function noteChild(deps: CaptureDeps, workspace: Workspace, news: News): TurnId | null {
  return deps.log.transact(() => {
    const { open } = findSession(deps, workspace, sessionOf(news))
    if (open === null) return null
    deps.captureLog.touchTurn(open.turn, news.atMs)
    return open.turn
  })
}

/** News that neither opens nor closes anything is written down; `more` when there is more to do. */
function noteOnly(deps: CaptureDeps, workspace: Workspace, news: News): TurnRow | null | 'more' {
  const { open, state } = findSession(deps, workspace, sessionOf(news))
  const decision = decideTurn(state, toTurnEvent(news))
  if (decision.close !== null || decision.open !== null) return 'more'
  if (!decision.note || open === null) return null
  insertEvent(deps, workspace, open.turn, news)
  return open
}

async function act(deps: NoteDeps, lease: Lease, workspace: Workspace, news: News): Promise<TurnId | null> {
  const session = findSession(deps, workspace, sessionOf(news))
  const decision = decideTurn(session.state, toTurnEvent(news))
  if (decision.open !== null) {
    const agentPid = news.agentPid ?? findAgentBefore(deps, session)
    const request = { ...beginRequest(news, decision.open.lateStart), agentPid }
    const { turn } = await openTurn(deps, lease, workspace, request, planClose(session, decision.close))
    deps.log.transact(() => insertEvent(deps, workspace, turn, news))
    return turn
  }
  if (decision.close === null || session.open === null) {
    // Somebody was quicker.
    const noted = deps.log.transact(() => noteOnly(deps, workspace, news))
    return noted === 'more' ? null : (noted?.turn ?? null)
  }
  const { turn } = session.open
  if (decision.note) {
    deps.log.transact(() => insertEvent(deps, workspace, turn, news))
    const { key, reason } = news
    await endTurn(deps, lease, workspace, { session: sessionOf(news), key, reason, lastMessage: null })
  } else await closeTurnsByUs(deps, lease, workspace, planClose(session, decision.close))
  return turn
}

function insertEvent(deps: CaptureDeps, workspace: Workspace, turn: TurnId, news: News): void {
  const { atMs, type, tool, command, paths } = news
  const nextScan = deps.captureLog.peekScan(workspace.id)
  deps.captureLog.insertEvent({ turn, atMs, type, tool, command, paths, nextScan })
  const agent = findAgent(deps, news.agentPid)
  if (agent !== null) deps.captureLog.setAgent(turn, agent)
}

function sessionOf({ session, parentSession }: News): string {
  return parentSession ?? session
}

function toTurnEvent({ type, key, reason, atMs }: News): TurnEvent {
  switch (type) {
    case 'turn.start':
    case 'tool.before':
    case 'tool.after':
      return { type, key, atMs }
    case 'turn.end':
      return { type, key, reason }
    case 'session.end':
      return { type }
  }
}

function beginRequest(news: News, lateStart: boolean): Omit<BeginRequest, 'agentPid'> {
  return {
    session: sessionOf(news),
    key: news.key,
    kind: 'agent',
    agent: news.agent,
    prompt: null,
    task: null,
    lateStart,
    deadlineMs: null,
  }
}

/** The look that the turn's begin could not make, before its tool writes. Without it the next scan makes it. */
async function catchUp(deps: NoteDeps, workspace: Workspace): Promise<void> {
  try {
    await deps.leases.run(
      workspace,
      'capture',
      (lease) => lookAndRecord(deps, lease, workspace),
      CATCH_UP_SECONDS,
    )
  } catch (error) {
    if (!isHeldByOther(error)) throw error
  }
}

export async function lookAndRecord(deps: CaptureDeps, lease: Lease, workspace: Workspace): Promise<void> {
  const options = { countExcluded: false, deadlineMs: null, late: new Set<TurnId>() }
  const looked = await lookAtTree(deps, lease, workspace, options)
  deps.log.transact(() => looked.record())
}
