import { decideTurn, type OwnEnd, type RelPath, type TurnEvent, type TurnId } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { Lease, Leases, ToolEvent, Workspace } from '#ports.ts'
import { closeTurnsByUs } from './close-turn.ts'
import { lookAtTree } from './look.ts'
import { findAgent, findAgentBefore, findSession } from './session.ts'
import { type BeginRequest, beginTurn, beginTurnWithin, endTurn, isHeldByOther, planClose } from './turns.ts'

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
  /** Files that it writes outside of the tree. */
  readonly outside: ToolEvent['outside']
  readonly agentPid: number | null
  /** How the turn ended, for `turn.end`. */
  readonly reason: OwnEnd
  /** When it happened, if that is not now: news that waited somewhere, or what a transcript tells. */
  readonly atMs: number | null
  /** Called before anything is written down; throws when whoever asked has given up and does it another way. */
  readonly confirm?: () => void
  /** So long the agent waits when the news opens a turn, and no longer; null to take the time it takes. */
  readonly withinSeconds: number | null
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
  const { turn, more } = deps.log.transact(() => {
    request.confirm?.()
    return noteOnly(deps, workspace, news)
  })
  switch (more) {
    case 'nothing':
      return turn
    case 'look':
      await unlessHeld(() => inTree(deps, workspace, CATCH_UP_SECONDS, lookAndRecord))
      return turn
    case 'close':
      await inTree(deps, workspace, undefined, (_, lease) => close(deps, lease, workspace, news))
      return turn
    case 'open':
      return open(deps, workspace, news)
  }
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

/**
 * Writes the news down, if it is of an open turn, and says what more there is to do. An end is written down before it is
 * carried out: when that fails, it is known that the agent did no more.
 */
function noteOnly(
  deps: CaptureDeps,
  workspace: Workspace,
  news: News,
): { readonly turn: TurnId | null; readonly more: 'nothing' | 'look' | 'close' | 'open' } {
  const { open, state } = findSession(deps, workspace, sessionOf(news))
  const decision = decideTurn(state, toTurnEvent(news))
  if (decision.open !== null) return { turn: null, more: 'open' }
  if (open === null) return { turn: null, more: 'nothing' }
  if (decision.note) insertEvent(deps, workspace, open.turn, news)
  if (decision.close !== null) return { turn: open.turn, more: 'close' }
  if (!decision.note) return { turn: null, more: 'nothing' }
  return { turn: open.turn, more: open.isUnseen && news.type === 'tool.before' ? 'look' : 'nothing' }
}

async function close(deps: CaptureDeps, lease: Lease, workspace: Workspace, news: News): Promise<void> {
  const session = findSession(deps, workspace, sessionOf(news))
  const decision = decideTurn(session.state, toTurnEvent(news))
  // Else somebody was quicker.
  if (decision.close === null) return
  if (!decision.note) {
    await closeTurnsByUs(deps, lease, workspace, planClose(session, decision.close))
    return
  }
  const { key, reason } = news
  await endTurn(deps, lease, workspace, { session: sessionOf(news), key, reason, lastMessage: null })
}

/** Opens the turn that the news tells of, unless somebody was quicker, and writes the news down for it. */
async function open(deps: NoteDeps, workspace: Workspace, news: News): Promise<TurnId | null> {
  const session = findSession(deps, workspace, sessionOf(news))
  const request = {
    session: sessionOf(news),
    key: news.key,
    kind: 'agent',
    agent: news.agent,
    prompt: null,
    task: null,
    agentPid: news.agentPid ?? findAgentBefore(deps, session),
    lateStart: news.type !== 'turn.start',
    isForNews: true,
    ...(news.confirm === undefined ? {} : { confirm: news.confirm }),
  } as const
  if (news.withinSeconds === null) {
    await inTree(deps, workspace, undefined, (_, lease) =>
      beginTurn(deps, lease, workspace, { ...request, deadlineMs: null }),
    )
  } else await beginTurnWithin(deps, workspace, request, news.withinSeconds)
  return deps.log.transact(() => {
    // A look takes its time: who has given up meanwhile notes it himself.
    news.confirm?.()
    return noteOnly(deps, workspace, news)
  }).turn
}

function insertEvent(deps: CaptureDeps, workspace: Workspace, turn: TurnId, news: News): void {
  const { atMs, type, tool, command, paths, outside } = news
  const nextScan = deps.captureLog.peekScan(workspace.id)
  deps.captureLog.insertEvent({ turn, atMs, type, tool, command, paths, outside, nextScan })
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

function inTree<T>(
  deps: NoteDeps,
  workspace: Workspace,
  waitSeconds: number | undefined,
  work: (deps: CaptureDeps, lease: Lease, workspace: Workspace) => Promise<T>,
): Promise<T> {
  return deps.leases.run(workspace, 'capture', (lease) => work(deps, lease, workspace), waitSeconds)
}

async function unlessHeld(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isHeldByOther(error)) throw error
  }
}

export async function lookAndRecord(deps: CaptureDeps, lease: Lease, workspace: Workspace): Promise<void> {
  const options = { countExcluded: false, deadlineMs: null, late: new Set<TurnId>() }
  const looked = await lookAtTree(deps, lease, workspace, options)
  deps.log.transact(() => looked.record())
}
