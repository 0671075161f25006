'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ProjectId, RestoreId } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { routes } from '@turnback/core/api'
import Link from 'next/link'
import { useEffect, useRef, useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { paths } from '#lib/paths.ts'
import { Button } from '#ui/button.tsx'
import { Note } from '#ui/note.tsx'
import { Sheet } from '#ui/sheet.tsx'
import { PlanOptions } from './plan-options.tsx'
import { askMutation, cancelMutation, isSettled, type RestoreAsk, restoreQuery } from './restore-queries.ts'
import { useRestoreView, Waiting } from './restore-view.tsx'

interface RewindSheetProps {
  readonly project: ProjectId
  /** What to ask for when the sheet opens; null is a closed sheet. */
  readonly ask: RestoreAsk | null
  readonly title: string
  readonly onClose: () => void
}

/** One tap opens this and asks at once; what it shows then is where the request has got to. */
export function RewindSheet({ project, ask, title, onClose }: RewindSheetProps) {
  const [restore, setRestore] = useState<RestoreId | null>(null)
  const [isUndo, setIsUndo] = useState(false)
  const queryClient = useQueryClient()
  const cancel = useMutation(cancelMutation())
  const request = useMutation({
    ...askMutation(),
    onSuccess: (made: Restore) => {
      queryClient.setQueryData(restoreQuery(made.id).queryKey, made)
      void queryClient.invalidateQueries({ queryKey: [routes.listRestores.path] })
      setRestore(made.id)
    },
  })
  const { mutate, reset } = request
  const asked = useRef<RestoreAsk | null>(null)
  useEffect(() => {
    if (ask === null || asked.current === ask) return
    asked.current = ask
    reset()
    setRestore(null)
    setIsUndo(false)
    mutate(ask)
  }, [ask, mutate, reset])

  const askAgain = (next: RestoreAsk, before: Restore) => {
    // A plan that nobody will confirm is given up; should that fail, it runs out by itself.
    if (!isSettled(before.status)) cancel.mutate(before.id)
    setRestore(null)
    mutate(next)
  }
  const close = (isOpen: boolean) => {
    if (!isOpen) onClose()
  }
  if (restore !== null) {
    return (
      <OpenRestore
        key={restore}
        id={restore}
        isOpen={ask !== null}
        project={project}
        title={isUndo ? 'Undo of this rewind' : title}
        onOpenChange={close}
        onNext={(next) => {
          setIsUndo(true)
          setRestore(next.id)
        }}
        onAskAgain={askAgain}
      />
    )
  }
  return (
    <Sheet isOpen={ask !== null} onOpenChange={close} title={title}>
      {request.isError ? (
        <Note
          tone="error"
          title={describeError(request.error).message}
          action={ask !== null && <Button onClick={() => mutate(ask)}>Try again</Button>}
        >
          {describeError(request.error).remedy}
        </Note>
      ) : (
        <Waiting text="Asking…" />
      )}
    </Sheet>
  )
}

interface OpenRestoreProps {
  readonly id: RestoreId
  readonly isOpen: boolean
  readonly project: ProjectId
  readonly title: string
  readonly onOpenChange: (isOpen: boolean) => void
  readonly onNext: (next: Restore) => void
  readonly onAskAgain: (ask: RestoreAsk, before: Restore) => void
}

function OpenRestore({ id, isOpen, project, title, onOpenChange, onNext, onAskAgain }: OpenRestoreProps) {
  const { restore, body, actions } = useRestoreView({ id, onNext, onAskAgain })
  const isPlan = restore?.status === 'awaiting-confirmation' && restore.request !== null
  return (
    <Sheet
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      title={title}
      description={restore === undefined ? undefined : `On ${restore.machineName}`}
      footer={actions}
    >
      {body}
      {isPlan && <PlanOptions restore={restore} onAskAgain={onAskAgain} />}
      <p className="mt-4 text-xs">
        <Link
          href={paths.restore(project, id)}
          className="inline-flex items-center text-accent-text hover:underline touch:min-h-11"
        >
          Open as a page
        </Link>
      </p>
    </Sheet>
  )
}
