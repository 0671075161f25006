import { DomainError, type OwnEnd, type TurnId } from '@turnback/core'
import { makeCheckpoint } from '#capture/checkpoint.ts'
import { signClosedTurns } from '#capture/sign-turns.ts'
import { beginTurn, endTurn } from '#capture/turns.ts'
import type { GitState } from '#ports.ts'
import { listMarked } from '#store/task-processes.ts'
import { endGroup } from './child.ts'
import { markOf, type Running, runStep } from './step.ts'
import type { Attempt, Landed, MovedHead, TaskPlan, TaskPorts } from './task.ts'

/** Commits what the try did. @throws LANDING_REFUSED, LANDING_FAILED */
export type Land = () => Promise<Landed>

/** What came of the command and of what it is verified with. */
interface Worked {
  readonly exit: number
  readonly verified: boolean
  readonly failedVerify: string | null
  readonly outcome: Attempt['outcome']
}

/**
 * One try as one turn: looked at before and after. What verifying writes, and what a commit's hooks do, is part of it, so
 * that all of it can be taken back.
 */
export async function makeAttempt(
  ports: TaskPorts,
  plan: TaskPlan,
  now: Pick<Running, 'attempt' | 'failedDiff' | 'stop'>,
  landOf: (turn: TurnId) => Land | null,
): Promise<Attempt> {
  const { deps, workspace } = ports
  const before = deps.git(workspace.root)
  const key = Buffer.from(deps.random(8)).toString('hex')
  const { turn, number } = await deps.leases.run(workspace, 'capture', (lease) =>
    beginTurn(deps, lease, workspace, {
      ...{ session: plan.task, key, kind: 'task', agent: null, task: plan.task, agentPid: process.pid },
      ...{ prompt: plan.title ?? plan.line, lateStart: false, deadlineMs: null },
    }),
  )
  const running: Running = { ...now, turn, key }
  const groups: number[] = []
  let worked = await work(ports, plan, running, groups)
  if (worked.outcome !== 'passed') for (const group of groups) await endGroup(group, () => now.stop.isUrgent)
  // Half of its work would be committed, and the other half left.
  const isWhole = deps.log.findTurn(turn)?.isOpen === true
  if (worked.outcome === 'passed' && !isWhole) worked = { ...worked, outcome: 'interrupted' }
  const movedHead = findMove(before, deps.git(workspace.root))
  const { landed, trouble } = worked.outcome === 'passed' ? await tryToLand(landOf(turn)) : NOT_LANDED
  if (trouble !== null) worked = { ...worked, outcome: 'failed' }
  const outcome = now.stop.signal !== null && landed === null ? 'interrupted' : worked.outcome
  const isEnded = await end(ports, plan, key, outcome)
  const isCutShort = !isEnded && landed === null
  const stillRunning = listMarked(null, markOf(running))
  return {
    ...worked,
    ...{ turn, number, landed, stillRunning, movedHead, landingTrouble: trouble },
    ...{ isCutShort, outcome: isCutShort ? 'interrupted' : outcome },
  }
}

const NOT_LANDED = { landed: null, trouble: null }

async function tryToLand(
  land: Land | null,
): Promise<{ readonly landed: Landed | null; readonly trouble: DomainError | null }> {
  if (land === null) return NOT_LANDED
  try {
    return { landed: await land(), trouble: null }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { landed: null, trouble: error }
  }
}

async function work(ports: TaskPorts, plan: TaskPlan, running: Running, groups: number[]): Promise<Worked> {
  const { stop } = running
  const run = async (argv: readonly string[], line: string, folder: string) => {
    const end = await runStep(ports, plan, running, { argv, line, folder })
    if (end.group !== null) groups.push(end.group)
    return end
  }
  if (stop.signal !== null) return { exit: 130, verified: false, failedVerify: null, outcome: 'interrupted' }
  const { exit } = await run(plan.command, plan.line, ports.folder)
  const failed = { exit, verified: false, failedVerify: null, outcome: 'failed' } as const
  if (stop.signal !== null) return { ...failed, outcome: 'interrupted' }
  if (exit !== 0) return failed
  for (const [index, line] of plan.verify.entries()) {
    ports.progress(`verifying: ${line}`)
    const verified = await run(['/bin/sh', '-c', line], line, ports.workspace.root)
    if (stop.signal !== null) return { ...failed, outcome: 'interrupted' }
    if (verified.exit !== 0) return { ...failed, failedVerify: line }
    await keepGoodState(ports, plan, index)
  }
  return { ...failed, verified: plan.verify.length > 0, outcome: 'passed' }
}

/** Each step that passed is a moment that can be returned to. */
async function keepGoodState(
  { deps, workspace }: TaskPorts,
  { task, verify }: TaskPlan,
  index: number,
): Promise<void> {
  const label = `${task}: verified ${index + 1} of ${verify.length}`
  await deps.leases.run(workspace, 'capture', (lease) =>
    makeCheckpoint(deps, lease, workspace, { label, task, paths: null }),
  )
}

/** @returns false when somebody else had closed the turn */
async function end(
  { deps, workspace }: TaskPorts,
  { task }: TaskPlan,
  key: string,
  outcome: Attempt['outcome'],
): Promise<boolean> {
  const reason: OwnEnd = outcome === 'passed' ? 'completed' : outcome
  try {
    await deps.leases.run(workspace, 'capture', (lease) =>
      endTurn(deps, lease, workspace, { session: task, key, reason, lastMessage: null }),
    )
    return true
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'NO_OPEN_TURN') throw error
    // Whoever closed it may have left the signing to others, and its diff is wanted now.
    await deps.leases.run(workspace, 'capture', () => signClosedTurns(deps, workspace))
    return false
  }
}

function findMove(then: GitState, now: GitState): MovedHead | null {
  return then.head === now.head && then.branch === now.branch ? null : { then: then.head, now: now.head }
}
