import { DomainError, isId, type TurnId, undoneMarks } from '@turnback/core'
import { z } from 'zod'
import type { Deps, Workspace } from '#ports.ts'
import { listRestoreFacts } from '#restore/facts.ts'
import { listMarked } from '#store/task-processes.ts'

const claimSchema = z.object({
  process: z.object({ pid: z.int(), started: z.string(), boot: z.string(), space: z.string() }),
  task: z.string(),
  /** What the try at hand started, to be looked for when this run is gone without a word. */
  group: z.int().nullable(),
  mark: z.string().nullable(),
})

/** One run at a time in a tree: with two, nobody could tell whose changes are whose, and neither could be taken back. */
type Claim = z.infer<typeof claimSchema>

type ClaimDeps = Pick<Deps, 'log' | 'processes'>

/** A run that was cut off, and whose work is in the tree still. */
export interface CutOff {
  readonly task: string
  readonly turn: TurnId
}

/**
 * Takes the tree for this run.
 * @returns the run before, when it was cut off
 * @throws TASK_RUNNING when another run has it, or what a run that was cut off had started still runs
 */
export function takeTree(deps: Deps, workspace: Workspace, task: string): CutOff | null {
  const process_ = deps.processes.find(process.pid)
  if (process_ === null) throw new Error('invariant: this process is there')
  return deps.log.transact(() => {
    const before = findClaim(deps, workspace)
    if (before !== null) refuseIfThere(deps, workspace, before)
    putClaim(deps, workspace, { process: process_, task, group: null, mark: null })
    return before === null ? null : toCutOff(deps, workspace, before)
  })
}

/** Notes what the try at hand started. */
export function noteGroup(deps: ClaimDeps, workspace: Workspace, group: number | null, mark: string): void {
  deps.log.transact(() => {
    const claim = findClaim(deps, workspace)
    if (claim !== null) putClaim(deps, workspace, { ...claim, group, mark })
  })
}

export function giveTreeBack(deps: ClaimDeps, workspace: Workspace): void {
  deps.log.putFact(keyOf(workspace), null)
}

/** What nobody knows to be taken back yet; null when nothing was cut off. */
export function findCutOff(deps: Deps, workspace: Workspace): CutOff | null {
  const claim = findClaim(deps, workspace)
  if (claim === null) return null
  const { processes } = deps
  const mayLive = processes.isOutOfSight(claim.process) || processes.isAlive(claim.process)
  return mayLive ? null : toCutOff(deps, workspace, claim)
}

export function cutOffInWords({ task, turn }: CutOff): string {
  return `Task ${task} was cut off, and what it did is in the tree: \`turnback restore ${turn}\` takes it back.`
}

function toCutOff(deps: Deps, workspace: Workspace, { task, mark }: Claim): CutOff | null {
  const turn = mark?.slice(mark.indexOf('=') + 1) ?? ''
  if (!isId(turn, 't') || deps.log.findTurn(turn) === null) return null
  const isUndone = undoneMarks(listRestoreFacts(deps, workspace)).get(turn) === 'yes'
  return isUndone ? null : { task, turn }
}

function refuseIfThere({ processes }: ClaimDeps, workspace: Workspace, claim: Claim): void {
  const { task, group, mark } = claim
  // In a container of its own it can not be looked for. Then its turn stands open, and is honoured as any other's.
  if (!processes.isOutOfSight(claim.process) && processes.isAlive(claim.process))
    throw new DomainError('TASK_RUNNING', { task, pid: claim.process.pid, folder: workspace.root })
  const left = mark === null ? [] : listMarked(null, mark)
  if (left.length > 0)
    throw new DomainError(
      'TASK_RUNNING',
      { task, pids: left.map(({ pid, command }) => `${pid} ${command}`), group },
      { message: 'A task was cut off here, and programs that it had started still run.' },
    )
}

function keyOf(workspace: Workspace): string {
  return `task-run:${workspace.id}`
}

function findClaim({ log }: ClaimDeps, workspace: Workspace): Claim | null {
  const text = log.findFact(keyOf(workspace))
  return text === null ? null : claimSchema.parse(JSON.parse(text))
}

function putClaim({ log }: ClaimDeps, workspace: Workspace, claim: Claim): void {
  log.putFact(keyOf(workspace), JSON.stringify(claim))
}
