import type { KeptReason, Preview, RestoreReport } from '@turnback/core'
import type { Context } from './context.ts'
import { EXIT } from './exit-code.ts'
import { onOneLine } from './visible.ts'

/** Prints a restore's report and leaves the exit code that goes with its status. */
export function printReport(context: Context, report: RestoreReport): void {
  context.print(report, () => reportInWords(report))
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

function reportInWords(report: RestoreReport): string {
  const { directories, error } = report
  const lines = [
    ...report.restored.map((path) => `restored  ${onOneLine(path)}`),
    ...report.merged.map((path) => `merged    ${onOneLine(path)}`),
    ...report.deleted.map((path) => `deleted   ${onOneLine(path)}`),
    ...directories.restored.map((path) => `restored  ${onOneLine(path)}/`),
    ...directories.deleted.map((path) => `deleted   ${onOneLine(path)}/`),
    ...report.kept.map(({ path, reason }) => `kept      ${onOneLine(path)} (${reason})`),
    ...directories.kept.map((path) => `kept      ${onOneLine(path)}/`),
    ...report.skipped.map(({ path, reason }) => `skipped   ${onOneLine(path)} (${reason})`),
    ...report.failed.map(({ path, code, reason }) => `FAILED    ${onOneLine(path)} (${code}: ${reason})`),
    ...report.irreversible.map((what) => `not undone by files alone: ${onOneLine(what)}`),
  ]
  const manner = [
    report.dryRun === true && 'nothing was done, this is what would be',
    report.recovered && 'finished what had been cut off',
    report.status === 'done' && report.verified && 'every file was read back',
  ].filter((text) => text !== false)
  const head = [report.status, ...manner].join('; ')
  const why =
    error === undefined ? [] : [`${error.message} (${error.code})`, ...changedPathsOf(error.details)]
  return [...lines, head, ...why, ...nextSteps(report)].join('\n')
}

const REPLACEABLE: ReadonlySet<KeptReason> = new Set([
  'changed-after-turn',
  'line-endings-only',
  'type-changed',
])

/** What can be typed next, after this report. */
function nextSteps(report: RestoreReport): string[] {
  const { directories, kept } = report
  const steps: string[] = []
  if (kept.some(({ reason }) => reason === 'missing-blob'))
    steps.push('bytes that were recorded are gone or damaged: turnback verify says which')
  if (kept.some(({ reason }) => REPLACEABLE.has(reason)))
    steps.push(
      'kept files were changed since: --on-conflict save replaces them and keeps a copy, merge joins both',
    )
  const lists = [report.restored, report.merged, report.deleted, directories.restored, directories.deleted]
  if (report.turn !== null && lists.some((list) => list.length > 0))
    steps.push(`take this back: turnback restore ${report.turn}`)
  return steps
}

function changedPathsOf(details: Readonly<Record<string, unknown>> | undefined): string[] {
  const paths = details?.paths
  return Array.isArray(paths) ? paths.map((path) => `changed   ${onOneLine(String(path))}`) : []
}

export function previewInWords(preview: Preview): string {
  const { head } = preview
  return [
    ...preview.restore.map((path) => `would restore  ${onOneLine(path)}`),
    ...preview.merge.map((path) => `would merge    ${onOneLine(path)}`),
    ...preview.delete.map((path) => `would delete   ${onOneLine(path)}`),
    ...preview.conflicts.map(({ path, reason }) => `would keep     ${onOneLine(path)} (${reason})`),
    ...preview.skipped.map(({ path, reason }) => `not captured   ${onOneLine(path)} (${reason})`),
    ...preview.alsoUndoes.map(({ path }) => `also undoes a later change of ${onOneLine(path)}`),
    ...preview.irreversible.map((what) => `not undone by files alone: ${onOneLine(what)}`),
    ...(head.then === head.now ? [] : [`HEAD was ${head.then ?? 'nothing'}, is ${head.now ?? 'nothing'}`]),
    `as wanted already: ${preview.unchanged}`,
    `token ${preview.token}`,
  ].join('\n')
}
