import { DomainError, type TurnId, utf8Bytes } from '@turnback/core'
import { listIrreversible } from '#restore/irreversible.ts'
import { removeOldTaskFiles, writeTaskFile } from '#store/task-files.ts'
import { findAnyFault } from '#unusable.ts'
import { type Land, makeAttempt } from './attempt.ts'
import { cutOffInWords, giveTreeBack, takeTree } from './claim.ts'
import { addLeftBehind } from './cut-short.ts'
import { type LandingWords, landTask } from './land.ts'
import { findLastGood } from './last-good.ts'
import { findRepository, prepareCommit, type Repository } from './repository.ts'
import { type RolledBack, rollBack } from './roll-back.ts'
import type { Stop, StopSignal } from './stop.ts'
import type { Attempt, Landed, MovedHead, TaskPlan, TaskPorts } from './task.ts'

/** How a whole run came out. */
export interface TaskEnd {
  readonly outcome: 'landed' | 'rolled-back' | 'failed'
  readonly attempts: readonly Attempt[]
  readonly landed: Landed | null
  /** File with the diff of the last try that failed, or null. */
  readonly failedDiff: string | null
  /** Null when nothing was to be taken back. */
  readonly rolledBack: RolledBack | null
  /** Commits that failed tries made themselves: they stay. */
  readonly movedHead: MovedHead | null
  readonly irreversible: readonly string[]
  readonly interruptedBy: StopSignal | null
  /** What kept the tries from being gone on with: none of the task's own. */
  readonly trouble: DomainError | null
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Runs a task: tries until one passes, then lands it; else takes all tries back.
 * @throws TASK_RUNNING when another run has the tree; TASK_REFUSED when its work could not be committed in the end
 */
export async function runTask(ports: TaskPorts, plan: TaskPlan, stop: Stop): Promise<TaskEnd> {
  const { deps, workspace } = ports
  const repository = await findRepositoryFor(ports, plan)
  const ready = plan.commit ? await prepareCommit(repository) : null
  const land = (turns: readonly TurnId[]): Land | null =>
    ready === null ? null : () => landTask(ports, ready, turns, wordsOf(plan))
  removeOldTaskFiles(deps.home, deps.clock.nowMs() - deps.config.retentionDays * DAY_MS)
  const cutOff = takeTree(deps, workspace, plan.task)
  try {
    if (cutOff !== null) ports.warn(cutOffInWords(cutOff))
    return await tryUntilPassed(ports, plan, stop, { land, repository })
  } finally {
    giveTreeBack(deps, workspace)
  }
}

/** Who wants no commit can do without git; then what a failed task staged stays staged. */
async function findRepositoryFor(ports: TaskPorts, plan: TaskPlan): Promise<Repository | null> {
  try {
    return await findRepository(ports.workspace, ports.env, ports.deps.git(ports.workspace.root).operation)
  } catch (error) {
    if (plan.commit || !(error instanceof DomainError)) throw error
    ports.warn(`${error.message} What is staged is not looked at.`)
    return null
  }
}

function wordsOf({ task, title }: TaskPlan): LandingWords {
  return { subject: title ?? task, trailers: [`Task-Id: ${task}`] }
}

/** What tries stand on. */
interface Ground {
  readonly land: (turns: readonly TurnId[]) => Land | null
  readonly repository: Repository | null
}

async function tryUntilPassed(
  ports: TaskPorts,
  plan: TaskPlan,
  stop: Stop,
  ground: Ground,
): Promise<TaskEnd> {
  const attempts: Attempt[] = []
  try {
    const { failedDiff, stuck } = await tryAll(ports, plan, stop, ground, attempts)
    const isDone = attempts.at(-1)?.outcome === 'passed' || plan.onFail === 'keep'
    const rolledBack = isDone ? null : (stuck ?? (await takeAllBack(ports, attempts, ground.repository)))
    return summarise(ports, attempts, { failedDiff, stop, rolledBack, trouble: null })
  } catch (error) {
    // The store is full, or somebody else has it: then the tries can not be gone on with, but what they did may go.
    const trouble = findAnyFault(error) ?? error
    const first = attempts[0]?.turn ?? findOpenTry(ports, plan)
    if (!(trouble instanceof DomainError) || first === null) throw error
    const rolledBack = plan.onFail === 'keep' ? null : await rollBack(ports, first, ground.repository)
    return summarise(ports, attempts, { failedDiff: null, stop, rolledBack, trouble })
  }
}

function findOpenTry({ deps, workspace }: TaskPorts, { task }: TaskPlan): TurnId | null {
  const open = deps.log.listOpenTurns(workspace.id)
  return open.find(({ kind, session }) => kind === 'task' && session === task)?.turn ?? null
}

/** Tries until one passes, or none may follow. @param attempts gets each */
async function tryAll(
  ports: TaskPorts,
  plan: TaskPlan,
  stop: Stop,
  { land, repository }: Ground,
  attempts: Attempt[],
): Promise<{ readonly failedDiff: string | null; readonly stuck: RolledBack | null }> {
  let failedDiff: string | null = null
  while (attempts.length <= plan.retries && stop.signal === null) {
    const attempt = attempts.length + 1
    ports.progress(`try ${attempt} of ${plan.retries + 1}: ${plan.line}`)
    const earlier = attempts.map(({ turn }) => turn)
    const made = await makeAttempt(ports, plan, { attempt, failedDiff, stop }, (turn) =>
      land([...earlier, turn]),
    )
    attempts.push(made)
    if (made.outcome === 'passed') break
    failedDiff = writeFailedDiff(ports, plan, made)
    if (isFinal(made, plan) || attempts.length > plan.retries) break
    const stuck = await prepareNext(ports, plan, attempts, repository)
    if (stuck !== null) return { failedDiff, stuck }
  }
  return { failedDiff, stuck: null }
}

/** Another try would meet the same. */
function isFinal({ outcome, landingTrouble, movedHead }: Attempt, { commit }: TaskPlan): boolean {
  if (outcome === 'interrupted' || landingTrouble?.code === 'LANDING_REFUSED') return true
  return commit && movedHead !== null
}

/** @returns what could not be taken back: nothing is tried on top of that */
async function prepareNext(
  ports: TaskPorts,
  plan: TaskPlan,
  attempts: readonly Attempt[],
  repository: Repository | null,
): Promise<RolledBack | null> {
  const last = attempts.at(-1)
  if (last === undefined || plan.retryFrom === 'current') return null
  const good = plan.retryFrom === 'last-good' ? findLastGood(ports, plan, attempts) : null
  const first = attempts[0] ?? last
  const back = good === null ? null : await rollBack(ports, good, null)
  if (back?.isWhole === true) return null
  const all = await rollBack(ports, first.turn, repository)
  return all.isWhole ? null : all
}

async function takeAllBack(
  ports: TaskPorts,
  attempts: readonly Attempt[],
  repository: Repository | null,
): Promise<RolledBack | null> {
  const first = attempts[0]
  if (first === undefined) return null
  const back = await rollBack(ports, first.turn, repository)
  return attempts.at(-1)?.isCutShort === true ? addLeftBehind(ports, first.turn, back) : back
}

function writeFailedDiff({ deps, workspace, diffOf }: TaskPorts, plan: TaskPlan, made: Attempt): string {
  const row = deps.log.findTurn(made.turn)
  if (row === null) throw new Error('invariant: the turn of a try is in the log')
  const why = whyItFailed(made)
  const about = `# Task ${plan.task}, turn @${row.number} in ${workspace.root}: ${why}\n`
  return writeTaskFile(deps.home, `${made.turn}.diff`, lines(about, diffOf(row)))
}

function* lines(about: string, diff: Iterable<Uint8Array>): Generator<Uint8Array> {
  // One line, whatever was in it: what follows is a patch.
  yield utf8Bytes(`${about.trimEnd().replaceAll('\n', ' ')}\n`)
  yield* diff
}

export function whyItFailed(made: Attempt): string {
  const { exit, failedVerify, outcome, landingTrouble, isCutShort } = made
  if (isCutShort) return 'another command closed its turn while it ran'
  if (outcome === 'interrupted') return 'it was interrupted'
  if (failedVerify !== null) return `it did not pass: ${failedVerify}`
  if (landingTrouble !== null) return 'its work could not be committed'
  return `the command ended with ${exit}`
}

function summarise(
  ports: TaskPorts,
  attempts: readonly Attempt[],
  end: {
    readonly failedDiff: string | null
    readonly stop: Stop
    readonly rolledBack: RolledBack | null
    readonly trouble: DomainError | null
  },
): TaskEnd {
  const landed = attempts.find(({ outcome }) => outcome === 'passed')
  const turns: TurnId[] = attempts.map(({ turn }) => turn)
  const moved = attempts.flatMap(({ movedHead, outcome }) => (outcome === 'passed' ? [] : (movedHead ?? [])))
  const movedHead = joinMoves(moved)
  const isNothing = attempts.length === 0 && end.trouble === null
  const isWhole = end.rolledBack?.isWhole === true && movedHead === null
  return {
    outcome: landed !== undefined ? 'landed' : isWhole || isNothing ? 'rolled-back' : 'failed',
    attempts,
    landed: landed?.landed ?? null,
    failedDiff: landed === undefined || attempts.length > 1 ? end.failedDiff : null,
    rolledBack: end.rolledBack,
    movedHead,
    irreversible: listIrreversible(ports.deps, turns),
    interruptedBy: end.stop.signal,
    trouble: end.trouble,
  }
}

function joinMoves(moves: readonly MovedHead[]): MovedHead | null {
  const [first] = moves
  const last = moves.at(-1)
  return first === undefined || last === undefined ? null : { then: first.then, now: last.now }
}
