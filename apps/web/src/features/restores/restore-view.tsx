'use client'

import type { ConflictChoice, RestoreId } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { describeError, textOfCode } from '#lib/errors.ts'
import { Button } from '#ui/button.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { Note } from '#ui/note.tsx'
import { Spinner } from '#ui/spinner.tsx'
import { isEmptyPlan, PlanView } from './plan-view.tsx'
import { ReportView } from './report-view.tsx'
import { ApproveAtMachine, CancelButton, ConfirmButton, UndoButton } from './restore-actions.tsx'
import type { RestoreAsk } from './restore-queries.ts'
import { useRestore } from './use-restore.ts'

interface RestoreViewProps {
  readonly id: RestoreId
  /** Another restore took this one's place: a new plan, or its undo. */
  readonly onNext: (next: Restore) => void
  /** Asks again with something changed; the old request is given up. */
  readonly onAskAgain?: ((ask: RestoreAsk, before: Restore) => void) | undefined
}

/** A restore from its asking to its report: whatever it is at, and what can be done then. */
export function useRestoreView({ id, onNext, onAskAgain }: RestoreViewProps) {
  const query = useRestore(id)
  if (query.data === undefined) {
    const body = query.isError ? (
      <ErrorState {...describeError(query.error)} onRetry={() => void query.refetch()} />
    ) : (
      <Waiting text="Asking for the plan…" />
    )
    return { restore: undefined, body, actions: undefined }
  }
  const restore = query.data
  const again = askAgainOf(restore, onAskAgain)
  return {
    restore,
    body: (
      <div className="space-y-4">
        {query.isError && (
          <Note tone="warn" title={describeError(query.error).message}>
            What you see may be old. {describeError(query.error).remedy}
          </Note>
        )}
        <RestoreBody restore={restore} again={again} />
      </div>
    ),
    actions: <RestoreActions restore={restore} again={again} onNext={onNext} />,
  }
}

type AskAgain = ((change: Partial<RestoreAsk>) => void) | undefined

function askAgainOf(restore: Restore, onAskAgain: RestoreViewProps['onAskAgain']): AskAgain {
  const request = restore.request
  if (onAskAgain === undefined || request === null) return undefined
  return (change) => {
    const { workspace, turn, scope, paths, onConflict, exact, allowHeadChange } = request
    onAskAgain(
      {
        workspace,
        turn,
        scope,
        onConflict,
        exact,
        allowHeadChange,
        mode: 'preview',
        ...(paths === undefined ? {} : { paths }),
        ...change,
      },
      restore,
    )
  }
}

function RestoreBody({ restore, again }: { restore: Restore; again: AskAgain }) {
  switch (restore.status) {
    case 'queued':
      return restore.machineOnline ? (
        <Waiting text={`Asking ${restore.machineName} for its plan…`} />
      ) : (
        <Note title={`${restore.machineName} is offline.`}>
          The request waits for it. If that takes longer than a minute, the machine only plans, and you
          confirm here.
        </Note>
      )
    case 'planning':
      return <Waiting text={`${restore.machineName} compares its files with the record…`} />
    case 'awaiting-confirmation':
      return <Plan restore={restore} again={again} />
    case 'applying':
      return <Waiting text={`${restore.machineName} puts the files back and reads each one back…`} />
    case 'done':
    case 'partly-done':
    case 'refused':
    case 'failed':
      return <Ended restore={restore} />
    case 'expired':
      return (
        <Note title="This request is too old.">
          Nothing was done. Plans are good for ten minutes; ask for a new one.
        </Note>
      )
    case 'cancelled':
      return <Note title="Cancelled. Nothing was done." />
  }
}

function Plan({ restore, again }: { restore: Restore; again: AskAgain }) {
  if (restore.plan === null) return <Waiting text="Reading the plan…" />
  const choose = again === undefined ? undefined : (onConflict: ConflictChoice) => again({ onConflict })
  return <PlanView plan={restore.plan} onConflict={restore.request?.onConflict ?? 'keep'} onChoose={choose} />
}

function Ended({ restore }: { restore: Restore }) {
  if (restore.report !== null) return <ReportView report={restore.report} />
  const text = restore.error === null ? null : textOfCode(restore.error.code, restore.error.message)
  return (
    <Note
      tone={restore.status === 'done' ? 'info' : 'error'}
      title={text?.message ?? 'There is no report of this rewind.'}
    >
      {text?.remedy ?? 'The machine did not send one.'}
    </Note>
  )
}

interface RestoreActionsProps {
  readonly restore: Restore
  readonly again: AskAgain
  readonly onNext: (next: Restore) => void
}

function RestoreActions({ restore, again, onNext }: RestoreActionsProps) {
  switch (restore.status) {
    case 'queued':
    case 'planning':
      return <CancelButton restore={restore} />
    case 'awaiting-confirmation':
      return restore.plan === null ? (
        <CancelButton restore={restore} />
      ) : (
        <>
          {restore.machinePolicy === 'ask' ? (
            <ApproveAtMachine restore={restore} />
          ) : (
            <ConfirmButton
              restore={restore}
              plan={restore.plan}
              isEmpty={isEmptyPlan(restore.plan)}
              onNewPlan={again && (() => again({}))}
            />
          )}
          <CancelButton restore={restore} />
        </>
      )
    case 'applying':
    case 'cancelled':
      return null
    case 'done':
    case 'partly-done':
      return restore.report?.turn == null ? null : <UndoButton restore={restore} onNext={onNext} />
    case 'refused':
    case 'failed':
    case 'expired':
      return again === undefined ? null : <RetryButtons restore={restore} again={again} />
  }
}

function RetryButtons({ restore, again }: { restore: Restore; again: NonNullable<AskAgain> }) {
  const code = restore.report?.error?.code ?? restore.error?.code
  return (
    <>
      {code === 'HEAD_MOVED' && (
        <Button tone="primary" size="large" onClick={() => again({ allowHeadChange: true })}>
          Preview in spite of the other commit
        </Button>
      )}
      <Button size="large" onClick={() => again({})}>
        Ask for a new plan
      </Button>
    </>
  )
}

export function Waiting({ text }: { text: string }) {
  return (
    <p role="status" className="flex items-center gap-3 py-6 text-muted">
      <Spinner className="size-5 shrink-0 text-accent-text" />
      <span className="min-w-0 [overflow-wrap:anywhere]">{text}</span>
    </p>
  )
}
