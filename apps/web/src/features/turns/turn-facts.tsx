import type { TurnManifest } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import type { ReactNode } from 'react'
import { durationBetween, formatMoment, plural } from '#lib/format.ts'
import { Note } from '#ui/note.tsx'
import { OnlineDot } from '#ui/online-dot.tsx'
import { makeVisible } from '#ui/visible.ts'
import { endWords } from './turn-words.ts'

interface TurnFactsProps {
  readonly summary: TurnSummary
  readonly manifest: Omit<TurnManifest, 'entries' | 'skipped'>
  readonly envelopeSha256: string
  readonly receivedAt: string
}

/** Who, where, when, and how much of it was seen. */
export function TurnFacts({ summary, manifest, envelopeSha256, receivedAt }: TurnFactsProps) {
  const { coverage, git } = manifest
  return (
    <>
      <div className="mt-4 rounded-xl border border-line bg-surface">
        <dl className="grid grid-cols-2 gap-x-4 gap-y-3 px-3.5 pt-3 pb-2 sm:grid-cols-3 lg:grid-cols-6">
          <Fact name="Agent">{agentText(manifest)}</Fact>
          <Fact name="Machine">
            <span className="inline-flex max-w-full items-center gap-1.5">
              <OnlineDot isOnline={summary.machineOnline} />
              <span className="truncate">{makeVisible(summary.machineName)}</span>
            </span>
          </Fact>
          <Fact name="Workspace">{makeVisible(summary.workspaceName)}</Fact>
          <Fact name="Branch">{branchText(git)}</Fact>
          <Fact name="Took">{durationBetween(manifest.startedAt, manifest.endedAt)}</Fact>
          <Fact name="Ended">{endText(manifest)}</Fact>
        </dl>
        <details className="px-3.5 text-[0.8125rem]">
          <summary className="flex min-h-8 items-center text-xs text-muted select-none hover:text-text touch:min-h-11">
            More about this turn
          </summary>
          <MoreFacts
            summary={summary}
            manifest={manifest}
            envelopeSha256={envelopeSha256}
            receivedAt={receivedAt}
          />
        </details>
      </div>
      {!coverage.complete && (
        <div className="mt-3">
          <Note tone="warn" title="This turn was not captured completely.">
            {coverage.reason ?? 'No reason was recorded.'}
          </Note>
        </div>
      )}
    </>
  )
}

function MoreFacts({ summary, manifest, envelopeSha256, receivedAt }: TurnFactsProps) {
  const { git, coverage } = manifest
  return (
    <dl className="grid gap-x-4 gap-y-3 pt-1 pb-3 sm:grid-cols-2">
      <Fact name="Person">{makeVisible(summary.ownerName)}</Fact>
      <Fact name="Session">{makeVisible(manifest.session ?? 'none')}</Fact>
      <Fact name="Began">
        {formatMoment(manifest.startedAt)}
        {manifest.lateStart && ' (seen late: the agent had begun already)'}
      </Fact>
      <Fact name="Reached the service">{formatMoment(receivedAt)}</Fact>
      <Fact name="Coverage">
        {coverage.complete
          ? `complete, ${plural(coverage.files, 'file')} looked at`
          : (coverage.reason ?? 'incomplete')}
      </Fact>
      <Fact name="Commit">{commitText(git)}</Fact>
      <Fact name="Turn">
        <code className="font-mono text-xs">{summary.turn}</code>
      </Fact>
      <Fact name="Signed envelope, SHA-256">
        <code className="font-mono text-xs">{envelopeSha256}</code>
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="mt-0.5 min-w-0 font-medium [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}

function agentText({ agent, kind }: Pick<TurnManifest, 'agent' | 'kind'>): string {
  if (agent === null) return kind === 'outside' ? 'none' : 'a person'
  const words = [agent.name, agent.version, agent.model === undefined ? null : `(${agent.model})`]
  return makeVisible(words.filter((word) => word !== null).join(' '))
}

function branchText({ branch, headAfter, operation }: TurnManifest['git']): string {
  const name = branch ?? (headAfter === null ? 'no git' : `detached at ${headAfter.slice(0, 10)}`)
  return makeVisible(operation === null ? name : `${name} (${operation})`)
}

function commitText({ headBefore, headAfter }: TurnManifest['git']): string {
  if (headBefore === null && headAfter === null) return 'none'
  const [from, to] = [headBefore, headAfter].map((head) => head?.slice(0, 10) ?? 'none')
  return from === to ? `${to}, not moved` : `${from} → ${to}`
}

function endText({ endReason, lateEnd }: Pick<TurnManifest, 'endReason' | 'lateEnd'>): string {
  const text =
    endReason === null ? 'n/a' : endReason === 'completed' ? 'Completed' : endWords[endReason].label
  return lateEnd ? `${text}, closed late` : text
}
