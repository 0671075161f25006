import type { Restore, RestoreState } from '@turnback/core/api'
import type { BadgeTone } from '#ui/badge.tsx'

interface StateWords {
  readonly label: string
  readonly tone: BadgeTone
}

export const stateWords: Readonly<Record<RestoreState, StateWords>> = {
  queued: { label: 'Waiting', tone: 'plain' },
  planning: { label: 'Planning', tone: 'accent' },
  'awaiting-confirmation': { label: 'Needs confirmation', tone: 'warn' },
  applying: { label: 'Rewinding', tone: 'accent' },
  done: { label: 'Done', tone: 'add' },
  'partly-done': { label: 'Partly done', tone: 'warn' },
  refused: { label: 'Refused', tone: 'del' },
  failed: { label: 'Failed', tone: 'del' },
  expired: { label: 'Expired', tone: 'plain' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
}

/** `4 restored, 1 deleted, 1 kept` of a report, or what a plan would do. Empty when there is neither. */
export function summaryOf({ report, plan }: Pick<Restore, 'report' | 'plan'>): string {
  const parts =
    report !== null
      ? [
          countOf(report.restored.length, 'restored'),
          countOf(report.deleted.length, 'deleted'),
          countOf(report.merged.length, 'merged'),
          countOf(report.kept.length, 'kept'),
          countOf(report.failed.length, 'failed'),
          countOf(report.skipped.length, 'skipped'),
        ]
      : plan !== null
        ? [
            countOf(plan.restore.length, 'to restore'),
            countOf(plan.delete.length, 'to delete'),
            countOf(plan.merge.length, 'to merge'),
            countOf(plan.conflicts.length, plan.conflicts.length === 1 ? 'conflict' : 'conflicts'),
          ]
        : []
  const said = parts.filter((part) => part !== '').join(', ')
  return said === '' && report !== null ? 'nothing to do' : said
}

function countOf(count: number, word: string): string {
  return count === 0 ? '' : `${count.toLocaleString('en')} ${word}`
}
