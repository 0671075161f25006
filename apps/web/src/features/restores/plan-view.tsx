'use client'

import type { ConflictChoice, Preview } from '@turnback/core'
import { keptWords, skipWords } from '@turnback/core'
import {
  CircleSlash,
  FileMinus,
  FilePlus2,
  GitMerge,
  Hand,
  Lock,
  ShieldAlert,
  Users,
  Zap,
} from 'lucide-react'
import { useId } from 'react'
import { plural, shortId } from '#lib/format.ts'
import { Note } from '#ui/note.tsx'
import { PathList } from './path-list.tsx'

interface PlanViewProps {
  readonly plan: Preview
  readonly onConflict: ConflictChoice
  /** Asks for another plan with this choice; absent when the request was not made here. */
  readonly onChoose?: ((choice: ConflictChoice) => void) | undefined
}

export function isEmptyPlan(plan: Preview): boolean {
  return plan.restore.length + plan.delete.length + plan.merge.length === 0
}

/** Everything that a rewind would do, before it does. */
export function PlanView({ plan, onConflict, onChoose }: PlanViewProps) {
  return (
    <div className="space-y-4">
      <PlanNotes plan={plan} />
      {plan.conflicts.length > 0 && onChoose !== undefined && (
        <ConflictChoices count={plan.conflicts.length} choice={onConflict} onChoose={onChoose} />
      )}
      <div>
        <PathList
          title={plural(plan.conflicts.length, 'conflict')}
          icon={<Hand className="text-warn" />}
          lead={onConflict === 'keep' ? 'These stay as they are now.' : undefined}
          paths={plan.conflicts.map(({ path, reason }) => ({ path, note: keptWords[reason] }))}
        />
        <PathList
          title={`${plan.restore.length} to restore`}
          icon={<FilePlus2 className="text-add" />}
          paths={plan.restore.map((path) => ({ path }))}
        />
        <PathList
          title={`${plan.delete.length} to delete`}
          icon={<FileMinus className="text-del" />}
          lead="Made by the turn; not there before it."
          paths={plan.delete.map((path) => ({ path }))}
        />
        <PathList
          title={`${plan.merge.length} to merge`}
          icon={<GitMerge className="text-info" />}
          lead="Later changes stay; only the turn’s own lines are taken out."
          paths={plan.merge.map((path) => ({ path }))}
        />
        <PathList
          title={`${plan.skipped.length} skipped`}
          icon={<CircleSlash className="text-warn" />}
          lead="Not captured before the turn, so there is nothing to return to."
          paths={plan.skipped.map(({ path, reason }) => ({ path, note: skipWords[reason] }))}
        />
        <PathList
          title={`${plural(plan.alsoUndoes.length, 'change')} in between also undone`}
          icon={<Users className="text-warn" />}
          lead="Made between the turns that are rewound, by hand or another program."
          paths={plan.alsoUndoes.map(({ path, turn }) => ({ path, note: `from ${shortId(turn)}` }))}
        />
        <PathList
          title={`${plural(plan.sensitive.length, 'sensitive path')}`}
          icon={<ShieldAlert className="text-warn" />}
          lead="Hooks, CI files, agent settings, lock files or programs: have a second look."
          paths={plan.sensitive.map((path) => ({ path }))}
        />
        <PathList
          title={`${plan.sealed.length} sealed`}
          icon={<Lock className="text-muted" />}
          lead="Their bytes are on the machine itself; no service is needed to restore them."
          paths={plan.sealed.map((path) => ({ path }))}
        />
      </div>
      {plan.unchanged > 0 && (
        <p className="text-xs text-faint">
          {plural(plan.unchanged, 'file is', 'files are')} as wanted already.
        </p>
      )}
    </div>
  )
}

function PlanNotes({ plan }: { plan: Preview }) {
  const { then, now } = plan.head
  return (
    <>
      {isEmptyPlan(plan) && (
        <Note title="Nothing would change.">
          {plan.conflicts.length > 0
            ? 'All paths of this turn were changed since and stay as they are.'
            : 'Every file is as it was before this turn already.'}
        </Note>
      )}
      {plan.irreversible.length > 0 && (
        <Note tone="warn" title="What a rewind cannot take back">
          <ul className="mt-1 space-y-0.5">
            {plan.irreversible.map((line) => (
              <li key={line} className="flex items-start gap-1.5">
                <Zap className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
                <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{line}</span>
              </li>
            ))}
          </ul>
        </Note>
      )}
      {then !== now && (
        <Note tone="warn" title="The commit has changed since the turn.">
          Then {commitText(then)}, now {commitText(now)}. The files go back; the commit and branch stay as
          they are.
        </Note>
      )}
    </>
  )
}

function commitText(commit: string | null): string {
  return commit === null ? 'none' : commit.slice(0, 10)
}

const choices: readonly { value: ConflictChoice; label: string; meaning: string }[] = [
  { value: 'keep', label: 'Keep them', meaning: 'Leave these files exactly as they are now.' },
  {
    value: 'save',
    label: 'Save and replace',
    meaning: 'Put them back too. What is there now is saved and can be brought back by Undo.',
  },
  {
    value: 'merge',
    label: 'Merge',
    meaning: 'Take out only the agent’s lines where that is clean; else keep.',
  },
]

function ConflictChoices({
  count,
  choice,
  onChoose,
}: {
  count: number
  choice: ConflictChoice
  onChoose: (choice: ConflictChoice) => void
}) {
  const id = useId()
  return (
    <fieldset className="rounded-lg border border-warn-line bg-warn-bg p-3">
      <legend className="sr-only">What to do with conflicts</legend>
      <p className="font-medium">
        {plural(count, 'file was', 'files were')} changed after the turn. What should happen?
      </p>
      <div className="mt-2 space-y-1">
        {choices.map(({ value, label, meaning }) => (
          <label
            key={value}
            className="flex min-h-11 cursor-pointer items-start gap-2.5 rounded-md p-1.5 hover:bg-surface/60"
          >
            <input
              type="radio"
              name={id}
              value={value}
              checked={choice === value}
              onChange={() => onChoose(value)}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span>
              <span className="block font-medium">{label}</span>
              <span className="block text-[0.8125rem] text-muted">{meaning}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
