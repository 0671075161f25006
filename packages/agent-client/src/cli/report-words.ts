import type { Preview, RestoreReport } from '@turnback/core'
import type { Context } from './context.ts'
import { EXIT } from './exit-code.ts'

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
    ...report.restored.map((path) => `restored  ${path}`),
    ...report.merged.map((path) => `merged    ${path}`),
    ...report.deleted.map((path) => `deleted   ${path}`),
    ...directories.restored.map((path) => `restored  ${path}/`),
    ...directories.deleted.map((path) => `deleted   ${path}/`),
    ...report.kept.map(({ path, reason }) => `kept      ${path} (${reason})`),
    ...directories.kept.map((path) => `kept      ${path}/`),
    ...report.skipped.map(({ path, reason }) => `skipped   ${path} (${reason})`),
    ...report.failed.map(({ path, code, reason }) => `FAILED    ${path} (${code}: ${reason})`),
    ...report.irreversible.map((what) => `not undone by files alone: ${what}`),
  ]
  const manner = [
    report.dryRun === true && 'nothing was done, this is what would be',
    report.recovered && 'finished what had been cut off',
    report.status === 'done' && report.verified && 'every file was read back',
  ].filter((text) => text !== false)
  const head = [report.status, ...manner].join('; ')
  const why =
    error === undefined ? [] : [`${error.message} (${error.code})`, ...changedPathsOf(error.details)]
  const undo = report.turn === null ? [] : [`take this back: turnback restore ${report.turn}`]
  return [...lines, head, ...why, ...undo].join('\n')
}

function changedPathsOf(details: Readonly<Record<string, unknown>> | undefined): string[] {
  const paths = details?.paths
  return Array.isArray(paths) ? paths.map((path) => `changed   ${String(path)}`) : []
}

export function previewInWords(preview: Preview): string {
  const { head } = preview
  return [
    ...preview.restore.map((path) => `would restore  ${path}`),
    ...preview.merge.map((path) => `would merge    ${path}`),
    ...preview.delete.map((path) => `would delete   ${path}`),
    ...preview.conflicts.map(({ path, reason }) => `would keep     ${path} (${reason})`),
    ...preview.skipped.map(({ path, reason }) => `not captured   ${path} (${reason})`),
    ...preview.alsoUndoes.map(({ path }) => `also undoes a later change of ${path}`),
    ...preview.irreversible.map((what) => `not undone by files alone: ${what}`),
    ...(head.then === head.now ? [] : [`HEAD was ${head.then ?? 'nothing'}, is ${head.now ?? 'nothing'}`]),
    `as wanted already: ${preview.unchanged}`,
    `token ${preview.token}`,
  ].join('\n')
}
