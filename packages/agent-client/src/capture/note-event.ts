import { decideTurn, limits, type OwnEnd, type RelPath, type TurnEvent, type TurnId } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { Lease, Leases, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import { closeTurnsByUs } from './close-turn.ts'
import { noteInterruptions } from './interruption.ts'
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
  /** What an adapter tells beside it. */
  readonly told?: Told
}

/** What an agent says of a turn. */
export interface Told {
  readonly prompt: string | null
  readonly lastMessage: string | null
  readonly model: string | null
  readonly transcript: string | null
}

const TOLD_NOTHING: Told = { prompt: null, lastMessage: null, model: null, transcript: null }

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
  const told = await maskTold(deps, request.told ?? TOLD_NOTHING)
  const news = { ...request, command, told, atMs: Math.min(request.atMs ?? Infinity, deps.clock.nowMs()) }
  if (news.parentSession !== null && !isOfTool(news.type)) return noteChild(deps, workspace, news)
  if (news.type === 'session.end') noteInterruptions(deps, workspace, sessionOf(news))
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

type News = EventRequest & { readonly atMs: number; readonly told: Told }

async function maskTold({ secrets }: CaptureDeps, told: Told): Promise<Told> {
  if (told === TOLD_NOTHING) return told
  const mask = async (text: string | null) => (text === null ? null : secrets.mask(keep(text)))
  return { ...told, prompt: await mask(told.prompt), lastMessage: await mask(told.lastMessage) }
}

/** Of a text that an agent says, as much as is ever shown. */
function keep(text: string): string {
  return text.length > limits.promptCharacters ? text.slice(0, limits.promptCharacters + 1) : text
}

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
  if (decision.note) describe(deps, open, news)
  if (decision.close !== null) return { turn: open.turn, more: 'close' }
  if (!decision.note) return { turn: null, more: 'nothing' }
  return { turn: open.turn, more: open.isUnseen && news.type === 'tool.before' ? 'look' : 'nothing' }
}

/** Writes down what the agent says of the turn. A prompt that comes while another one is worked on waits for its own turn. */
function describe({ agents }: CaptureDeps, open: TurnRow, { type, agent, told }: News): void {
  const { prompt, model, transcript } = told
  const version = agent?.version ?? null
  const isOfAnother =
    type === 'turn.start' && prompt !== null && open.prompt !== null && open.prompt !== prompt
  if (isOfAnother) agents.queuePrompt(open.turn, prompt)
  const isSaid = type === 'turn.start' ? (prompt ?? model ?? version ?? transcript) : null
  const isNewTranscript = transcript !== null && open.transcript === null
  if (isSaid === null && !isNewTranscript && type !== 'turn.end') return
  agents.describe(open.turn, { prompt: type === 'turn.start' ? prompt : null, model, version, transcript })
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
  const { key, reason, told } = news
  await endTurn(deps, lease, workspace, {
    session: sessionOf(news),
    key,
    reason,
    lastMessage: told.lastMessage,
  })
}

/** Opens the turn that the news tells of, unless somebody was quicker, and writes the news down for it. */
async function open(deps: NoteDeps, workspace: Workspace, news: News): Promise<TurnId | null> {
  const session = findSession(deps, workspace, sessionOf(news))
  const request = {
    session: sessionOf(news),
    key: news.key,
    kind: 'agent',
    agent: news.agent,
    // One that was queued during the turn before is told of once, and then its turn begins without a word.
    prompt: news.told.prompt ?? deps.agents.findQueued(workspace.id, sessionOf(news)),
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

/** Closes what a session has open in one workspace, because it goes on in another one. */
export async function replaceElsewhere(
  deps: NoteDeps,
  workspace: Workspace,
  { session, key }: Pick<EventRequest, 'session' | 'key'>,
): Promise<void> {
  await inTree(deps, workspace, undefined, async (_, lease) => {
    const found = findSession(deps, workspace, session)
    const { close } = decideTurn(found.state, { type: 'begin', key })
    await closeTurnsByUs(deps, lease, workspace, planClose(found, close))
  })
}
