import type { ErrorCode, KeptReason, RestoreReport, Scope, TurnId } from '@turnback/core'
import { errorCatalogue, isErrorCode } from '@turnback/core'
import type { Log } from '#ports.ts'
import { nameTurn } from './turn-words.ts'

/** How the report that is shown came about. */
export interface Asked {
  readonly command: 'restore' | 'undo' | 'redo' | 'recover' | 'abort' | 'approve'
  /** The words of its scope, as they were typed; for another try. */
  readonly scope: readonly string[]
  /** The session in which to undo, or null. */
  readonly session: string | null
}

/** Kept for a change that `save` would put aside. */
const REPLACEABLE: ReadonlySet<KeptReason> = new Set([
  'changed-after-turn',
  'line-endings-only',
  'type-changed',
  'owned-by-other-session',
])
/** Kept because other sessions had a hand in it. */
const OTHERS: ReadonlySet<KeptReason> = new Set([
  'owned-by-other-session',
  'interleaved-with-other-session',
  'shared',
])

type Restores = Pick<Log, 'findTurn' | 'listRestores'>

const SCOPE_WORDS: Readonly<Record<Scope, readonly string[]>> = {
  'from-turn': [],
  turn: ['--only'],
  session: ['--session'],
  'all-sessions': ['--all-sessions'],
}

/** What can be typed next, after this report. */
export function nextSteps(log: Restores, report: RestoreReport, asked: Asked): string[] {
  const steps: string[] = []
  const { kept, error, failed } = report
  if (error !== undefined) return isErrorCode(error.code) ? [remedyFor(error.code)] : []
  const has = (reasons: ReadonlySet<KeptReason>): boolean => kept.some(({ reason }) => reasons.has(reason))
  const target = findTarget(log, report)
  const again = target === null ? null : ['turnback restore', nameTurn(log, target), ...asked.scope].join(' ')
  if (kept.some(({ reason }) => reason === 'missing-blob'))
    steps.push('Bytes that were recorded are gone or damaged: `turnback verify` says which.')
  if (failed.length > 0)
    steps.push(`When what stood in the way is gone, ${whatDoesTheRest(log, report, asked)} does the rest.`)
  if (has(REPLACEABLE) && again !== null && !asked.scope.includes('save'))
    steps.push(
      `To replace what was kept as well: \`${again} --on-conflict save\` (what is there now stays in the log), or \`merge\` to join both.`,
    )
  if (has(OTHERS) && again !== null && !asked.scope.includes('--all-sessions'))
    steps.push(`To undo the other sessions’ work too: \`${again} --all-sessions\`.`)
  const back = takeBack(report, asked)
  if (back !== null) steps.push(back)
  return steps
}

/** There is nothing left to recover after `recover`, so the restore is asked for again. */
function whatDoesTheRest(log: Restores, report: RestoreReport, { command }: Asked): string {
  if (command !== 'recover') return 'the same command again'
  const made = findMade(log, report)
  if (made === null) return 'the restore that was cut off, asked for again,'
  const { detail } = made
  const words = ['turnback restore', detail.takenBack ?? nameTurn(log, detail.target)]
  if (detail.takenBack === null)
    words.push(...SCOPE_WORDS[detail.scope], ...(detail.exact ? ['--exact'] : []))
  const limits = detail.paths === null ? '' : ', with the same `--path` or `--hunk` if there was one,'
  return `\`${words.join(' ')}\`${limits}`
}

/** Another preview, another word: the catalogue knows. */
function remedyFor(code: ErrorCode): string {
  return errorCatalogue[code].remedy
}

/** The turn that was asked for, when it is one of an agent, a task or a checkpoint. */
function findTarget(log: Restores, report: RestoreReport): TurnId | null {
  const made = findMade(log, report)
  return made === null || made.detail.takenBack !== null ? null : made.detail.target
}

function findMade(log: Restores, report: RestoreReport): ReturnType<Restores['listRestores']>[number] | null {
  const row = report.turn === null ? null : log.findTurn(report.turn)
  if (row === null) return null
  return log.listRestores(row.workspace).find(({ turn }) => turn === row.turn) ?? null
}

function takeBack(report: RestoreReport, { command }: Asked): string | null {
  const { turn, directories } = report
  const lists = [report.restored, report.merged, report.deleted, directories.restored, directories.deleted]
  if (turn === null || lists.every((list) => list.length === 0)) return null
  const exactly = `turnback restore ${turn}`
  return command === 'redo' || command === 'recover'
    ? `Take this back: \`${exactly}\`.`
    : `Take this back: \`turnback redo\` (later, when it is no longer the latest: \`${exactly}\`).`
}
