import type { ClientDeps } from '#deps.ts'
import type { TurnRow } from '#ports.ts'
import { type TaskEnd, whyItFailed } from '#task/run-task.ts'
import type { Attempt, NotLanded, TaskPlan } from '#task/task.ts'
import { EXIT } from './exit-code.ts'
import { keptLine, named, pathLine } from './report-words.ts'

/** What `run --json` prints. */
export function taskResult({ task }: TaskPlan, end: TaskEnd): object {
  const { landed, failedDiff, rolledBack, movedHead, irreversible, interruptedBy } = end
  const { kept = [], failed = [], skipped = [], directories = [], error = null } = rolledBack?.leftovers ?? {}
  const trouble = end.trouble?.toJSON() ?? error ?? end.attempts.at(-1)?.landingTrouble?.toJSON() ?? null
  return {
    task,
    outcome: end.outcome,
    attempts: end.attempts.map(attemptResult),
    ...(landed?.commit == null ? {} : { commit: landed.commit }),
    ...(failedDiff === null ? {} : { failedDiff }),
    ...(landed === null ? {} : { notLanded: landed.notLanded }),
    ...(rolledBack === null ? {} : { rollback: rolledBack.report?.turn ?? null }),
    ...{ kept, failed, skipped, keptDirectories: directories, irreversible },
    stillRunning: end.attempts.flatMap(({ stillRunning }) => stillRunning),
    ...(movedHead === null ? {} : { head: movedHead }),
    ...(interruptedBy === null ? {} : { interruptedBy }),
    ...(trouble === null ? {} : { error: trouble }),
  }
}

function attemptResult({ turn, number, exit, verified, failedVerify, outcome }: Attempt): object {
  return { turn, exit, verified, number, outcome, ...(failedVerify === null ? {} : { failedVerify }) }
}

export function exitOfTask({ outcome, interruptedBy }: TaskEnd): number {
  if (outcome === 'landed') return EXIT.done
  if (interruptedBy !== null) return EXIT.interrupted
  return outcome === 'rolled-back' ? EXIT.failed : EXIT.partly
}

export function taskInWords({ log }: Pick<ClientDeps, 'log'>, plan: TaskPlan, end: TaskEnd): string {
  const { attempts, landed, failedDiff, rolledBack, movedHead } = end
  const last = attempts.at(-1)
  const left = rolledBack?.leftovers
  return [
    ...attempts
      .filter(({ outcome }) => outcome !== 'passed')
      .map((each) => tryInWords(each, log.findTurn(each.turn))),
    ...(landed?.notLanded ?? []).map(({ path, reason }) => pathLine('not landed', path, WHY_NOT[reason])),
    ...(left?.kept ?? []).map((kept) => keptLine(log, 'kept', kept)),
    ...named(
      'kept',
      (left?.directories ?? []).map((path) => `${path}/`),
    ),
    ...(left?.failed ?? []).map(({ path, reason }) => pathLine('failed', path, reason)),
    ...(left?.skipped ?? []).map(({ path, reason }) => pathLine('left out', path, reason)),
    ...end.irreversible.map((what) => pathLine('not undone', what)),
    ...attempts
      .flatMap(({ stillRunning }) => stillRunning)
      .map(({ pid, command }) => pathLine('still runs', `${pid} ${command}`)),
    ...(movedHead === null ? [] : [headInWords(movedHead.then)]),
    ...(left?.error == null
      ? []
      : [`It could not be taken back: ${left.error.message} (${left.error.code})`]),
    ...(last?.landingTrouble == null ? [] : [landingInWords(last.landingTrouble)]),
    ...(end.trouble === null ? [] : [`${end.trouble.message} (${end.trouble.code})`, end.trouble.remedy]),
    outcomeInWords(plan, end),
    ...(failedDiff === null || end.outcome === 'landed' ? [] : [`What the last try did: ${failedDiff}`]),
  ].join('\n')
}

const WHY_NOT: Readonly<Record<NotLanded['reason'], string>> = {
  ignored: 'git ignores it',
  'other-repository': 'it lies in another repository',
  'not-captured': 'it is left out of what is captured',
}

function tryInWords(attempt: Attempt, row: TurnRow | null): string {
  return `turn @${row?.number ?? attempt.number} failed: ${whyItFailed(attempt)}`
}

function headInWords(then: string | null): string {
  const back = then === null ? '' : `; \`git reset --soft ${then.slice(0, 10)}\` takes them off the branch`
  return `The task made commits or changed the branch itself. Those stay${back}.`
}

function landingInWords({ message, details }: NonNullable<Attempt['landingTrouble']>): string {
  const facts = Object.values(details).flatMap((value) =>
    typeof value === 'string'
      ? [value]
      : Array.isArray(value)
        ? value.map((each) => `  ${String(each)}`)
        : [],
  )
  return [message, ...facts].join('\n')
}

function outcomeInWords(
  { task, commit }: TaskPlan,
  { outcome, landed, attempts, rolledBack }: TaskEnd,
): string {
  const turn = attempts.at(-1)?.number
  switch (outcome) {
    case 'landed':
      if (landed?.commit != null)
        return `Task ${task} landed as ${landed.commit.slice(0, 10)} (turn @${turn}).`
      return commit
        ? `Task ${task} passed (turn @${turn}); there was nothing to commit.`
        : `Task ${task} passed (turn @${turn}).`
    case 'rolled-back':
      return `Task ${task} did not pass; everything it did to the tree was taken back.`
    case 'failed':
      return rolledBack === null
        ? `Task ${task} did not pass; what it did is in the tree. \`turnback undo\` takes it back.`
        : `Task ${task} did not pass; not everything could be taken back.`
  }
}
