'use client'

import type { RestoreReport } from '@turnback/core'
import { keptWords, lostWords, skipWords } from '@turnback/core'
import {
  BadgeCheck,
  CircleAlert,
  CircleSlash,
  FileCheck,
  FileMinus,
  Folder,
  GitMerge,
  Hand,
  Unlink,
  Users,
  Zap,
} from 'lucide-react'
import { textOfCode } from '#lib/errors.ts'
import { durationBetween, formatMoment, plural, shortId } from '#lib/format.ts'
import { Note, type NoteTone } from '#ui/note.tsx'
import { PathList } from './path-list.tsx'

/** What a rewind did, path by path; nothing is rounded up. */
export function ReportView({ report }: { report: RestoreReport }) {
  return (
    <div className="space-y-4">
      <Outcome report={report} />
      <ReportLists report={report} />
      <ReportFacts report={report} />
    </div>
  )
}

function Outcome({ report }: { report: RestoreReport }) {
  const { tone, title, text } = outcomeOf(report)
  return (
    <div role="status">
      {tone === 'good' ? (
        <div className="flex items-start gap-2.5 rounded-lg border border-add/25 bg-add-bg px-3 py-2.5">
          <BadgeCheck className="mt-0.5 size-4 shrink-0 text-add" aria-hidden="true" />
          <div className="min-w-0">
            <p className="font-medium">{title}</p>
            <p className="mt-0.5 text-muted">{text}</p>
          </div>
        </div>
      ) : (
        <Note tone={tone} title={title}>
          {text}
        </Note>
      )}
    </div>
  )
}

/** The headline of a report. Green only when all was done and read back. */
export function outcomeOf(report: RestoreReport): { tone: NoteTone | 'good'; title: string; text: string } {
  const verified = report.verified
    ? 'Every file was read back from the disk and is as wanted.'
    : 'The result could not be verified by reading everything back.'
  switch (report.status) {
    case 'done':
      if (report.verified) return { tone: 'good', title: 'Done and verified', text: verified }
      return { tone: 'warn', title: 'Done, not verified', text: verified }
    case 'nothing-to-do':
      return {
        tone: 'info',
        title: report.kept.length > 0 ? 'Nothing was changed' : 'There was nothing to do',
        text:
          report.kept.length > 0
            ? 'All paths were kept; the reasons are below.'
            : 'Every file was as wanted already.',
      }
    case 'partly-done':
      return {
        tone: 'warn',
        title: 'Partly done',
        text: `${plural(report.failed.length, 'path')} could not be written; the others are done. ${verified}`,
      }
    case 'refused':
    case 'failed': {
      const text = report.error === undefined ? null : textOfCode(report.error.code, report.error.message)
      return {
        tone: 'error',
        title: text?.message ?? 'Nothing was done.',
        text: text?.remedy ?? 'The files are as they were.',
      }
    }
  }
}

function ReportLists({ report }: { report: RestoreReport }) {
  const dirs = report.directories
  return (
    <div>
      <PathList
        title={`${report.failed.length} failed`}
        icon={<CircleAlert className="text-del" />}
        paths={report.failed.map(({ path, code, reason }) => ({ path, note: `${reason} (${code})` }))}
      />
      <PathList
        title={`${report.restored.length} restored`}
        icon={<FileCheck className="text-add" />}
        paths={report.restored.map((path) => ({ path }))}
      />
      <PathList
        title={`${report.deleted.length} deleted`}
        icon={<FileMinus className="text-del" />}
        paths={report.deleted.map((path) => ({ path }))}
      />
      <PathList
        title={`${report.merged.length} merged`}
        icon={<GitMerge className="text-info" />}
        paths={report.merged.map((path) => ({ path }))}
      />
      <PathList
        title={`${report.kept.length} kept`}
        icon={<Hand className="text-warn" />}
        lead="Left exactly as they were."
        paths={report.kept.map(({ path, reason }) => ({ path, note: keptWords[reason] }))}
      />
      <PathList
        title={`${report.skipped.length} skipped`}
        icon={<CircleSlash className="text-warn" />}
        paths={report.skipped.map(({ path, reason }) => ({ path, note: skipWords[reason] }))}
      />
      <PathList
        title={`${plural(report.alsoUndone.length, 'change')} in between also undone`}
        icon={<Users className="text-warn" />}
        paths={report.alsoUndone.map(({ path, turn }) => ({ path, note: `from ${shortId(turn)}` }))}
      />
      <PathList
        title={plural(dirs.restored.length + dirs.deleted.length + dirs.kept.length, 'folder')}
        icon={<Folder className="text-muted" />}
        paths={[
          ...dirs.restored.map((path) => ({ path, note: 'restored' })),
          ...dirs.deleted.map((path) => ({ path, note: 'deleted' })),
          ...dirs.kept.map((path) => ({ path, note: 'kept: it still holds other files' })),
        ]}
      />
      <PathList
        title={`${report.lost?.length ?? 0} restored without all they had`}
        icon={<Unlink className="text-warn" />}
        paths={(report.lost ?? []).map(({ path, what }) => ({ path, note: lostWords[what] }))}
      />
      <PathList
        title={`${report.irreversible.length} not undone`}
        icon={<Zap className="text-warn" />}
        lead="Effects outside the files, which no rewind takes back."
        paths={report.irreversible.map((path) => ({ path }))}
      />
    </div>
  )
}

function ReportFacts({ report }: { report: RestoreReport }) {
  const facts = [
    ...(report.unchanged > 0
      ? [`${plural(report.unchanged, 'file was', 'files were')} as wanted already`]
      : []),
    ...(report.recovered ? ['finished after an interruption'] : []),
    `took ${durationBetween(report.startedAt, report.endedAt)}`,
    `asked for by ${report.requestedBy.name}${report.requestedBy.kind === 'local' ? ' at the machine' : ''}`,
    formatMoment(report.endedAt),
  ]
  return <p className="text-xs text-faint [overflow-wrap:anywhere]">{facts.join(' · ')}</p>
}
