'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Preview } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { Undo2 } from 'lucide-react'
import { describeError } from '#lib/errors.ts'
import { Button } from '#ui/button.tsx'
import { CopyButton } from '#ui/copy-button.tsx'
import { Note } from '#ui/note.tsx'
import { cancelMutation, confirmMutation, restoreQuery, undoMutation } from './restore-queries.ts'
import { newerOf } from './use-restore.ts'

/** An answer about a restore is the latest there is to show of it. */
function useShow(): (restore: Restore) => void {
  const queryClient = useQueryClient()
  return (restore) => {
    queryClient.setQueryData<Restore>(restoreQuery(restore.id).queryKey, (known) => newerOf(known, restore))
  }
}

interface ConfirmButtonProps {
  readonly restore: Restore
  readonly plan: Preview
  readonly isEmpty: boolean
  readonly onNewPlan?: (() => void) | undefined
}

export function ConfirmButton({ restore, plan, isEmpty, onNewPlan }: ConfirmButtonProps) {
  const show = useShow()
  const confirm = useMutation({ ...confirmMutation(), onSuccess: show })
  if (confirm.isError) {
    const { message, remedy } = describeError(confirm.error)
    return (
      <div className="w-full">
        <Note
          tone="error"
          title={message}
          action={onNewPlan !== undefined && <Button onClick={onNewPlan}>Get a new plan</Button>}
        >
          {remedy}
        </Note>
      </div>
    )
  }
  return (
    <Button
      tone="primary"
      size="large"
      className="sm:flex-1"
      disabled={isEmpty}
      title={isEmpty ? 'Nothing would change.' : undefined}
      isBusy={confirm.isPending || confirm.isSuccess}
      onClick={() => confirm.mutate({ restore: restore.id, token: plan.token })}
    >
      Confirm rewind
    </Button>
  )
}

/** For a machine whose owner wants to be asked there: what to type on it. This page goes on by itself then. */
export function ApproveAtMachine({ restore }: { restore: Restore }) {
  const command = `turnback approve ${restore.id}`
  return (
    <div className="w-full">
      <Note
        title={`${restore.machineName} wants the yes given there.`}
        action={<CopyButton text={command} label="Copy command" hasText />}
      >
        Type this on it within ten minutes: <code className="font-mono text-text">{command}</code>
      </Note>
    </div>
  )
}

export function CancelButton({ restore }: { restore: Restore }) {
  const show = useShow()
  const cancel = useMutation({ ...cancelMutation(), onSuccess: show })
  return (
    <>
      {cancel.isError && (
        <p role="alert" className="text-xs text-del">
          {describeError(cancel.error).message}
        </p>
      )}
      <Button size="large" isBusy={cancel.isPending} onClick={() => cancel.mutate(restore.id)}>
        Cancel
      </Button>
    </>
  )
}

/** Stays as long as the report does: a rewind is a turn, and can be taken back at any time. */
export function UndoButton({ restore, onNext }: { restore: Restore; onNext: (next: Restore) => void }) {
  const show = useShow()
  const undo = useMutation({
    ...undoMutation(),
    onSuccess: (next) => {
      show(next)
      onNext(next)
    },
  })
  return (
    <>
      <Button
        size="large"
        className="sm:flex-1"
        icon={<Undo2 className="size-4" />}
        isBusy={undo.isPending}
        onClick={() => undo.mutate(restore.id)}
      >
        Undo this rewind
      </Button>
      {undo.isError && (
        <p role="alert" className="text-xs text-del [overflow-wrap:anywhere]">
          {describeError(undo.error).message} {describeError(undo.error).remedy}
        </p>
      )}
    </>
  )
}
