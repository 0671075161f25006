import {
  type FailedPath,
  findNextRedo,
  isWork,
  type KeptPath,
  keptWords,
  lostWords,
  type RestoreReport,
  skipWords,
} from '@turnback/core'
import { listRestoreFacts } from '#restore/facts.ts'
import type { Context } from './context.ts'
import { EXIT } from './exit-code.ts'
import { type Asked, nextSteps } from './next-steps.ts'
import { byWhom, nameTurn, nameTurns, type Turns } from './turn-words.ts'
import { onOneLine } from './visible.ts'

/** So many names of one kind are read by nobody; `--json` has them all. */
const SHOWN = 100
/** As long as the longest of the words that stand before a path. */
const WIDTH = 'would restore'.length

/** Prints a restore's report and leaves the exit code that goes with its status. */
export function printReport(context: Context, report: RestoreReport, asked: Asked): void {
  context.print(report, () => reportInWords(context, report, asked))
  context.exitCode = exitOfStatus(report.status)
}

function exitOfStatus(status: RestoreReport['status']): number {
  switch (status) {
    case 'done':
    case 'nothing-to-do':
      return EXIT.done
    case 'partly-done':
      return EXIT.partly
    case 'refused':
      return EXIT.refused
    case 'failed':
      return EXIT.failed
  }
}

function reportInWords(context: Context, report: RestoreReport, asked: Asked): string {
  const { log } = context.deps
  const lines = report.status === 'refused' ? refusedLines(log, report) : doneLines(log, report)
  return [...lines, ...outcomeInWords(context, report, asked), ...nextSteps(log, report, asked)].join('\n')
}

/** One line a path. */
function doneLines(log: Turns, report: RestoreReport): string[] {
  const { directories, dryRun = false } = report
  const say = (done: string, would: string): string => (dryRun ? `would ${would}` : done)
  return [
    ...named(say('restored', 'restore'), report.restored),
    ...named(say('merged', 'merge'), report.merged),
    ...named(say('deleted', 'delete'), report.deleted),
    ...named(say('restored', 'restore'), directories.restored.map(asFolder)),
    ...named(say('deleted', 'delete'), directories.deleted.map(asFolder)),
    ...report.kept.map((kept) => keptLine(log, say('kept', 'keep'), kept)),
    ...named(say('kept', 'keep'), directories.kept.map(asFolder)),
    ...report.skipped.map(({ path, reason }) =>
      pathLine(say('left out', 'leave out'), path, skipWords[reason]),
    ),
    ...report.failed.map(failedLine),
    ...report.alsoUndone.map(({ path, turn }) =>
      pathLine(say('also undone', 'also undo'), path, `changed ${byWhom(log, turn)}`),
    ),
    ...(report.lost ?? []).map(({ path, what }) => pathLine('but', path, lostWords[what])),
    ...report.irreversible.map((what) => pathLine('not undone', what)),
  ]
}

function refusedLines(log: Turns, { kept, error }: RestoreReport): string[] {
  if (error?.code === 'HEAD_MOVED') return [headLine(error.details?.then, error.details?.now)]
  if (error?.code === 'CONFLICTS') {
    const paths = new Set(listPaths(error.details))
    return kept.filter(({ path }) => paths.has(path)).map((each) => keptLine(log, 'in the way', each))
  }
  const head = error?.details?.head === true ? ['HEAD or its branch is another one than at the preview.'] : []
  return [...named('changed', listPaths(error?.details)), ...head]
}

export function named(what: string, paths: readonly string[]): string[] {
  const lines = paths.slice(0, SHOWN).map((path) => pathLine(what, path))
  return paths.length > SHOWN
    ? [...lines, pathLine(what, `and ${paths.length - SHOWN} more; --json names all`)]
    : lines
}

export function pathLine(what: string, path: string, why?: string): string {
  return `${what.padEnd(WIDTH)} ${onOneLine(path)}${why === undefined ? '' : `: ${onOneLine(why)}`}`
}

/** Where HEAD was and is. */
export function headLine(then: unknown, now: unknown): string {
  const short = (commit: unknown): string => (typeof commit === 'string' ? commit.slice(0, 10) : 'no commit')
  return short(then) === short(now)
    ? `HEAD is at ${short(now)} still, on another branch.`
    : `HEAD was at ${short(then)} then, and is at ${short(now)} now.`
}

const asFolder = (path: string): string => `${path}/`

/** Why a path stays, and whose change that is for. */
export function keptLine(log: Turns, what: string, { path, reason, turn, session }: KeptPath): string {
  const by = turn === undefined ? '' : ` (${byWhom(log, turn, session)})`
  return pathLine(what, path, keptWords[reason] + by)
}

const TROUBLE: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there',
  EPERM: 'the system does not let it be changed',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EIO: 'the disk did not read or write',
  EBUSY: 'something else is using it',
  ETXTBSY: 'it is a program that runs',
  ENAMETOOLONG: 'its name is too long for this disk',
}

function failedLine({ path, code, reason }: FailedPath): string {
  return pathLine('FAILED', path, `${TROUBLE[code] ?? reason} (${code})`)
}

function listPaths(details: Readonly<Record<string, unknown>> | undefined): string[] {
  const paths = details?.paths
  return Array.isArray(paths) ? paths.map(String) : []
}

function outcomeInWords(context: Context, report: RestoreReport, asked: Asked): string[] {
  const { log } = context.deps
  const isLimited = asked.scope.includes('--path') || asked.scope.includes('--hunk')
  const finished = report.recovered ? [finishedInWords(asked)] : []
  switch (report.status) {
    case 'done': {
      if (report.dryRun === true) return ['Nothing was done: this is what would be.']
      const undid =
        report.of.length === 0 ? '' : ` ${isLimited ? 'part of ' : ''}${nameTurns(log, report.of)} undone:`
      const read = report.verified ? '; every file was read back' : ''
      return [...finished, `Done:${undid} ${countsOf(report)}${read}.`]
    }
    case 'nothing-to-do':
      return [...finished, ...nothingInWords(context, report, asked)]
    case 'partly-done':
      return [
        ...finished,
        `PARTLY DONE: ${countsOf(report)}.`,
        ...(report.error === undefined ? [] : [report.error.message]),
      ]
    case 'failed':
      return [...finished, 'FAILED: nothing was done.']
    case 'refused':
      return [`Refused: ${report.error?.message ?? 'nothing was done.'} (${report.error?.code ?? 'REFUSED'})`]
  }
}

function finishedInWords({ command }: Asked): string {
  return command === 'abort'
    ? 'The restore that had been cut off was rolled back.'
    : 'This finishes the restore that had been cut off.'
}

function countsOf(report: RestoreReport): string {
  const { directories } = report
  const counts: [number, string][] = [
    [report.restored.length, 'restored'],
    [report.merged.length, 'merged'],
    [report.deleted.length, 'deleted'],
    [directories.restored.length + directories.deleted.length, 'of folders'],
    [report.kept.length, 'kept'],
    [report.skipped.length, 'left out'],
    [report.failed.length, 'FAILED'],
    [report.unchanged, 'as wanted already'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return said.length === 0 ? 'nothing had to be written' : said.join(', ')
}

/** A person who gets nothing is told why, and what there is instead. */
function nothingInWords(context: Context, report: RestoreReport, asked: Asked): string[] {
  const { log } = context.deps
  if (report.turn === null && report.dryRun !== true) {
    if (asked.command === 'undo') return undoneInWords(context, asked)
    if (asked.command === 'redo') return redoneInWords(context)
  }
  const isKept = report.kept.length + report.skipped.length + report.directories.kept.length > 0
  if (asked.command === 'abort') {
    const which = isKept ? 'Every other file' : 'Every file'
    return [`${which} is as it was before that restore.`]
  }
  if (isKept)
    return ['Nothing was given back: every path stays as it is, for the reason that stands beside it.']
  if (asked.scope.includes('--path') || asked.scope.includes('--hunk'))
    return ['Nothing to do: none of the turns in question changed what you named.']
  if (report.of.length === 0) return ['Nothing to do: all is as it was before already.']
  const many = report.of.length > 1
  return [
    `Nothing to do: ${nameTurns(log, report.of)} changed no file${many ? 's' : ''} that could be given back; ${many ? 'they count' : 'it counts'} as undone now.`,
    'The next `turnback undo` takes the turn before.',
  ]
}

function undoneInWords(context: Context, { session }: Asked): string[] {
  const isThere = context.deps.log
    .listTurns(context.getWorkspace().id)
    .some((row) => isWork(row.kind) && (session === null || row.session === session))
  const where = session === null ? 'here' : `in session ${session}`
  return isThere
    ? [
        `Nothing to undo: every turn of an agent ${where} is undone already. \`turnback redo\` brings the last back.`,
      ]
    : [`Nothing to undo: no turn of an agent was recorded ${where} yet. \`turnback log\` lists what was.`]
}

function redoneInWords(context: Context): string[] {
  const { deps } = context
  const older = findNextRedo([], listRestoreFacts(deps, context.getWorkspace()))
  if (older === null) return ['Nothing to redo: no undo or restore is left that could be taken back.']
  return [
    `Nothing to redo: a turn came after ${nameTurn(deps.log, older)}, the last undo or restore, and changed files.`,
    `It can still be taken back by name: \`turnback restore ${older}\`.`,
  ]
}
