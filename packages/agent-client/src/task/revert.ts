import { DomainError, type RestoreReport, type TurnId } from '@turnback/core'
import { noteEvent } from '#capture/note-event.ts'
import { beginTurn, endTurn } from '#capture/turns.ts'
import type { ClientDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'
import { waitForQuiet } from '#restore/quiet.ts'
import { placeTaskFile, removeTaskFile } from '#store/task-files.ts'
import { giveTreeBack, takeTree } from './claim.ts'
import { commitIndex } from './commit.ts'
import { findLanding, listLater, type TaskCommit } from './find-landed.ts'
import { writeIndex } from './git-index.ts'
import { followCommit } from './land.ts'
import { conflictInWords, planRevert, type RevertConflict, type RevertedPath } from './plan-revert.ts'
import { findRepository, prepareCommit, type Ready, type Repository } from './repository.ts'
import { revertTurns } from './revert-turns.ts'
import { rollBackTurn } from './roll-back.ts'
import { writeEntries } from './write-entries.ts'

/** What a revert works with. */
export interface RevertPorts {
  readonly deps: ClientDeps
  readonly workspace: Workspace
  readonly env: Readonly<Record<string, string | undefined>>
  readonly requestedBy: RestoreReport['requestedBy']
  readonly callerPid: number
  warn(text: string): void
}

export interface Reverted {
  readonly task: string
  /** The commit that had landed it; null for a task that was not committed. */
  readonly commit: string | null
  /** The commit that takes it back, null when HEAD has no more of it; for one that was not committed, the restore's turn. */
  readonly revertedBy: string | null
  /** The turn that the revert is: to undo it gives the files back. */
  readonly turn: TurnId
  readonly paths: readonly string[]
}

/**
 * Takes one landed task back, and nothing that came after it: in the tree, and as a commit. Nothing at all is done when
 * that can not be told from later work, or from what is not committed.
 * @throws REVERT_REFUSED, TASK_NOT_FOUND, TASK_RUNNING, TASK_REFUSED, BUSY, LANDING_FAILED
 */
export async function revertTask(ports: RevertPorts, task: string): Promise<Reverted> {
  const { deps, workspace } = ports
  const repository = await findRepository(workspace, ports.env, deps.git(workspace.root).operation)
  const landing =
    repository === null || repository.head === null
      ? ({ kind: 'none' } as const)
      : await findLanding(repository.git, task)
  if (landing.kind === 'reverted')
    throw refusal(`Task ${task} was reverted already, by ${short(landing.by)}.`, {
      commit: landing.commit.commit,
      revertedBy: landing.by.commit,
    })
  if (landing.kind === 'none') await refuseOtherBranch(repository, task)
  takeTree(deps, workspace, task)
  try {
    await waitForQuiet(deps, workspace, ports.callerPid)
    if (landing.kind === 'none') return await revertTurns(ports, task)
    refuseMixed(landing.commit, task)
    const ready = await prepareCommit(repository)
    return await revertCommit(ports, ready, task, landing.commit)
  } finally {
    giveTreeBack(deps, workspace)
  }
}

/** Its turns say nothing of what this branch has. */
async function refuseOtherBranch(repository: Repository | null, task: string): Promise<void> {
  const elsewhere = repository === null ? null : await findLanding(repository.git, task, '--all')
  if (elsewhere?.kind === 'landed')
    throw refusal(`Task ${task} landed as ${short(elsewhere.commit)}, which is not on this branch.`, {
      commit: elsewhere.commit.commit,
    })
}

function refuseMixed({ commit, tasks, parents }: TaskCommit, task: string): void {
  if (tasks.length > 1)
    throw refusal(
      `The commit ${commit.slice(0, 10)} holds several tasks, so ${task} can not be told from the others.`,
      {
        commit,
        tasks,
      },
    )
  if (parents.length > 1)
    throw refusal(
      `The commit ${commit.slice(0, 10)} is a merge, so it is not clear what of it is the task.`,
      { commit },
    )
}

/** One turn: captured before, written, committed, captured after. What can not be finished is taken back. */
async function revertCommit(
  ports: RevertPorts,
  ready: Ready,
  task: string,
  landed: TaskCommit,
): Promise<Reverted> {
  const { deps, workspace } = ports
  const { tree } = await deps.leases.run(workspace, 'capture', (lease) => deps.capture.scan(lease, workspace))
  const ground = { deps, ready, tree }
  const plan = await planRevert(ground, landed.commit, landed.parents[0] ?? null)
  if (plan.conflicts.length > 0) throw await explain(ready, task, landed, plan.conflicts)
  if (plan.paths.length === 0)
    throw refusal(`Nothing of task ${task} is left to be reverted.`, { commit: landed.commit })
  const key = Buffer.from(deps.random(8)).toString('hex')
  const { turn } = await deps.leases.run(workspace, 'capture', (lease) =>
    beginTurn(deps, lease, workspace, {
      ...{ session: task, key, kind: 'task', agent: null, task, agentPid: process.pid },
      ...{ prompt: `revert ${task}`, lateStart: false, deadlineMs: null },
    }),
  )
  let commit: string | null
  try {
    commit = await writeAndCommit(ports, ready, { task, key, landed }, plan.paths)
  } catch (error) {
    await end(ports, task, key, 'failed')
    await takeBack(ports, turn, error)
    throw error
  }
  await end(ports, task, key, 'completed')
  return {
    ...{ task, turn, commit: landed.commit },
    revertedBy: commit,
    paths: plan.paths.map(({ path }) => path),
  }
}

/** @returns the commit, or null when HEAD has all of it already */
async function writeAndCommit(
  { deps, workspace }: RevertPorts,
  ready: Ready,
  { task, key, landed }: { readonly task: string; readonly key: string; readonly landed: TaskCommit },
  paths: readonly RevertedPath[],
): Promise<string | null> {
  // Others may have turns open: by this the paths are known to be this one's.
  const news = {
    session: task,
    parentSession: null,
    key,
    agent: null,
    tool: 'revert',
    command: null,
  } as const
  const named = {
    paths: paths.map(({ path }) => path),
    outside: [],
    agentPid: null,
    atMs: null,
    withinSeconds: null,
  }
  await noteEvent(deps, workspace, { ...news, ...named, type: 'tool.before', reason: 'completed' })
  await deps.leases.run(workspace, 'restore', async (lease) => {
    const { tree } = await deps.capture.scan(lease, workspace)
    await writeEntries(deps, lease, workspace, tree, paths)
  })
  await noteEvent(deps, workspace, { ...news, ...named, type: 'tool.after', reason: 'completed' })
  const entries = new Map(paths.map(({ gitPath, entry }) => [gitPath, entry]))
  const indexFile = placeTaskFile(deps.home, `index-${key}`)
  try {
    await ready.git.get('LANDING_FAILED', ['read-tree', ready.head ?? '--empty'], { indexFile })
    const wanted = new Map(paths.map(({ gitPath, entry }) => [gitPath, entry.landed]))
    await writeIndex(ready.git, 'LANDING_FAILED', wanted, indexFile)
    const commit = await commitIndex(ready, indexFile, {
      subject: `Revert "${landed.subject}"\n\nThis reverts commit ${landed.commit}.`,
      trailers: [`Reverts-Task: ${task}`, `Reverts-Commit: ${landed.commit}`],
    })
    if (commit !== null) await followCommit(ready, commit, entries)
    return commit
  } finally {
    removeTaskFile(indexFile)
    removeTaskFile(`${indexFile}.lock`)
  }
}

async function end(
  { deps, workspace }: RevertPorts,
  session: string,
  key: string,
  reason: 'completed' | 'failed',
): Promise<void> {
  await deps.leases.run(workspace, 'capture', (lease) =>
    endTurn(deps, lease, workspace, { session, key, reason, lastMessage: null }),
  )
}

/** The trouble is told in any case; with it, what could not be taken back. */
async function takeBack(ports: RevertPorts, turn: TurnId, trouble: unknown): Promise<void> {
  const { isWhole, leftovers } = await rollBackTurn(ports, turn, 'turn')
  if (isWhole) return
  const left = [...leftovers.kept, ...leftovers.failed].map(({ path }) => path)
  const why = trouble instanceof Error ? trouble.message : String(trouble)
  ports.warn(`What was written could not all be taken back after this: ${why} Left: ${left.join(', ')}`)
}

async function explain(
  { git }: Ready,
  task: string,
  landed: TaskCommit,
  conflicts: readonly RevertConflict[],
): Promise<DomainError> {
  const inTheWay = conflicts.filter(({ reason }) => reason === 'later-change').map(({ path }) => path)
  const later = inTheWay.length === 0 ? [] : await listLater(git, landed.commit, inTheWay)
  const isGone = new Set([task, ...later.flatMap(({ revertedTasks }) => revertedTasks)])
  const tasks = [...new Set(later.flatMap(({ tasks }) => tasks))].filter((each) => !isGone.has(each))
  const last = tasks.at(-1)
  const next =
    last !== undefined
      ? `turnback revert ${last}`
      : inTheWay.length > 0
        ? `git revert ${landed.commit.slice(0, 10)}`
        : null
  return new DomainError('REVERT_REFUSED', {
    paths: conflicts.map(conflictInWords),
    ...(later.length === 0 ? {} : { laterCommits: later.map((each) => `${short(each)} ${each.subject}`) }),
    ...(tasks.length === 0 ? {} : { laterTasks: tasks }),
    ...(next === null ? {} : { next }),
  })
}

function refusal(message: string, details: Record<string, unknown> = {}): DomainError {
  return new DomainError('REVERT_REFUSED', details, { message })
}

function short({ commit }: Pick<TaskCommit, 'commit'>): string {
  return commit.slice(0, 10)
}
