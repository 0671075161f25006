import type { KeptReason } from '@turnback/core'
import type { Restore, RestoreState } from '@turnback/core/api'
import type { BadgeTone } from '#ui/badge.tsx'

/** Why a path was, or would be, left as it is: in words that need no manual. */
export const keptWords: Readonly<Record<KeptReason, string>> = {
  'changed-after-turn': 'changed after the turn, by hand or another program',
  'line-endings-only': 'only its line endings changed since',
  'type-changed': 'is now another kind of thing (file, link or folder)',
  'owned-by-other-session': 'last written by another session',
  'interleaved-with-other-session': 'mixed with changes of another session',
  shared: 'several turns were open when it changed; it is not clear whose change it is',
  'unknown-writer': 'it is not known who changed it',
  'not-captured': 'its bytes were not captured',
  'missing-blob': 'its earlier bytes are missing or damaged in the store',
  'blocked-by-parent': 'something stands where its folder should be',
  'outside-workspace': 'leads outside the workspace',
  'directory-not-empty': 'the folder still holds other files',
  attributes: 'its attributes could not be set',
}

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
