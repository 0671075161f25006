import { limits, type TurnId } from '@turnback/core'
import type { Adapter, AgentNews } from '#adapters/adapter.ts'
import { type EventRequest, noteEvent, replaceElsewhere } from '#capture/note-event.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import { findWorkspaceAround } from '#worktree/find-root.ts'
import { findGitTop } from '#worktree/git-state.ts'
import { findAgentPid, findPidInVariable } from './agent-option.ts'
import type { Context } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { noteHookTrouble } from './hook-trouble.ts'
import { findOutsidePath, listNamedPaths } from './paths.ts'
import { asNewsOfTask, findTaskTurn } from './task-news.ts'
import { tellOfRestores } from './tell-of-restores.ts'

/** More than any agent can keep in mind; what is beyond that is left out. */
const CHECKLIST_ITEMS = 500

/**
 * Does what one thing that an agent told asks for. @returns what the agent is to know, or null
 * @throws what the capture throws
 */
export async function takeNews(context: Context, adapter: Adapter, news: AgentNews): Promise<string | null> {
  const { deps } = context
  const taskTurn = findTaskTurn(context)
  if (taskTurn !== null) return takeNewsOfTask(context, adapter, news, taskTurn)
  const session = news.parentSession ?? news.session
  const open = deps.agents.listOpenOf(session).filter(({ agent }) => agent === null || agent === adapter.name)
  switch (news.type) {
    case 'session.end':
    case 'turn.end': {
      await forEach(context, open, (turn) => note(context, adapter, news, workspaceOf(context, turn)))
      return null
    }
    case 'checklist': {
      const [turn] = open
      if (turn !== undefined) await keepChecklist(context, turn, news)
      return null
    }
    case 'tool.before':
    case 'tool.after': {
      // The turn has its place; where its agent has gone by `cd` is no other one.
      const there = open.find(({ key }) => news.key === null || key === news.key)
      if (there !== undefined) await note(context, adapter, news, workspaceOf(context, there), there)
      else await noteOfUnknown(context, adapter, news)
      return null
    }
    case 'turn.start':
      return start(context, adapter, news, open)
  }
}

async function takeNewsOfTask(
  context: Context,
  adapter: Adapter,
  news: AgentNews,
  turn: TurnRow,
): Promise<null> {
  if (news.type === 'turn.start') noteFired(context, adapter)
  if (turn.isOpen) await keepChecklist(context, turn, news)
  const ofTask = asNewsOfTask(news, turn)
  if (ofTask !== null) await note(context, adapter, ofTask, workspaceOf(context, turn), turn)
  return null
}

/** Masked as a prompt is: an agent writes down what it was told. */
async function keepChecklist({ deps }: Context, { turn }: TurnRow, { checklist }: AgentNews): Promise<void> {
  if (checklist === null) return
  const items = await Promise.all(
    checklist.items.slice(0, CHECKLIST_ITEMS).map(async ({ text, ...item }) => {
      const said = text === null ? null : text.slice(0, limits.promptCharacters)
      return { ...item, text: said === null ? null : await deps.secrets.mask(said) }
    }),
  )
  const kept = { ...checklist, items }
  deps.log.transact(() => deps.agents.insertChecklist(turn, deps.clock.nowMs(), kept))
}

/** The agent waits for this, so the disk is not waited for: `doctor` alone reads it. */
function noteFired({ deps }: Context, { name }: Adapter): void {
  const at = new Date(deps.clock.nowMs()).toISOString()
  deps.db.transactLoosely(() => deps.log.putFact(`fired:${name}`, at))
}

async function start(
  context: Context,
  adapter: Adapter,
  news: AgentNews,
  open: readonly TurnRow[],
): Promise<string | null> {
  const { deps } = context
  if (news.parentSession !== null) {
    for (const turn of open) await note(context, adapter, news, workspaceOf(context, turn), turn)
    return null
  }
  noteFired(context, adapter)
  const same = open.find(({ key }) => key !== null && key === news.key)
  const workspace = same === undefined ? await placeOf(context, news) : workspaceOf(context, same)
  const elsewhere = open.filter((turn) => turn.workspace !== workspace.id)
  await forEach(context, elsewhere, (turn) => replaceElsewhere(deps, workspaceOf(context, turn), news))
  const turn = await note(context, adapter, news, workspace)
  return turn === null ? null : tellOfRestores(deps, workspace, news.session, turn)
}

/**
 * News of a tool of which no turn is open. A session that nobody has heard of, in the very process that has a turn open, is
 * a sub-agent's that does not name its parent; else the turn's beginning was missed.
 */
async function noteOfUnknown(context: Context, adapter: Adapter, news: AgentNews): Promise<void> {
  const { deps } = context
  const workspace = await placeOf(context, news)
  const isNew =
    news.key === null &&
    news.parentSession === null &&
    deps.captureLog.findLastClosed(workspace.id, news.session) === null
  const pid = isNew ? pidOf(context, adapter) : null
  const parent = deps.log
    .listOpenTurns(workspace.id)
    .find((turn) => pid !== null && turn.agent === adapter.name && turn.agentProcess?.pid === pid)
  const parentSession = parent?.session ?? news.parentSession
  await note(context, adapter, { ...news, parentSession }, workspace, parent)
}

/** A turn that can not be closed, as in a folder that is gone, keeps nothing else from its news. */
async function forEach(
  context: Context,
  turns: readonly TurnRow[],
  work: (turn: TurnRow) => Promise<unknown>,
): Promise<void> {
  for (const turn of turns) {
    try {
      await work(turn)
    } catch (error) {
      noteHookTrouble(context, error)
    }
  }
}

function workspaceOf({ deps }: Context, { workspace }: TurnRow): Workspace {
  const found = deps.log.findWorkspace(workspace)
  if (found === null) throw new Error('the turn’s workspace is in the log')
  return found
}

/**
 * Where a turn is at work: around the folder that the agent works in; but one that was left for a folder of no project,
 * as by `cd /tmp`, is the one that the session was begun for.
 */
async function placeOf(context: Context, { cwd, project }: AgentNews): Promise<Workspace> {
  const { deps } = context
  const folder = cwd ?? project ?? context.folder
  const isAnywhere =
    project !== null &&
    folder !== project &&
    findWorkspaceAround(folder, deps.log.listWorkspaces()) === null &&
    findGitTop(folder) === null
  const { workspace } = await ensureWorkspace(context, {
    within: isAnywhere ? project : folder,
    isLookLater: true,
  })
  return workspace
}

function note(
  context: Context,
  adapter: Adapter,
  news: AgentNews,
  workspace: Workspace,
  open?: TurnRow,
): Promise<TurnId | null> {
  if (news.type === 'checklist') return Promise.resolve(null)
  const folder = news.cwd ?? news.project ?? context.folder
  const { prompt, lastMessage, model, transcript } = news
  const request: EventRequest = {
    session: news.session,
    parentSession: news.parentSession,
    key: news.key,
    type: news.type,
    agent: { name: adapter.name, version: news.version },
    tool: news.tool,
    command: news.command,
    paths: news.paths.flatMap((path) => listNamedPaths(workspace, folder, path)),
    outside: news.paths.flatMap((path) => findOutsidePath(workspace, folder, path) ?? []),
    // To look through the processes takes time, so it is done once.
    agentPid: open?.agentProcess == null ? pidOf(context, adapter) : null,
    reason: news.reason,
    atMs: null,
    withinSeconds: limits.hookWaitSeconds,
    confirm: context.confirm,
    told: { prompt, lastMessage, model, transcript },
  }
  return noteEvent(context.deps, workspace, request)
}

function pidOf(context: Context, { pidVariable }: Adapter): number | null {
  const told = pidVariable === null ? null : findPidInVariable(context, pidVariable)
  return told ?? findAgentPid(context, 'above')
}
