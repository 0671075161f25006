'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ProjectId, RestoreId } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { ArrowLeft } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { describeError } from '#lib/errors.ts'
import { formatMoment } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { Badge } from '#ui/badge.tsx'
import { OnlineDot } from '#ui/online-dot.tsx'
import { showToast } from '#ui/toast.tsx'
import { makeVisible } from '#ui/visible.ts'
import { PlanOptions } from './plan-options.tsx'
import { askMutation, cancelMutation, isSettled, type RestoreAsk, restoreQuery } from './restore-queries.ts'
import { useRestoreView } from './restore-view.tsx'
import { stateWords } from './restore-words.ts'

/** One rewind with its plan or report, at an address that can be sent to someone. */
export function RestorePage({ project, id }: { project: ProjectId; id: RestoreId }) {
  const router = useRouter()
  const queryClient = useQueryClient()
  const go = (next: Restore) => router.push(paths.restore(project, next.id))
  const cancel = useMutation(cancelMutation())
  const request = useMutation({
    ...askMutation(),
    onSuccess: (made: Restore) => {
      queryClient.setQueryData(restoreQuery(made.id).queryKey, made)
      go(made)
    },
    onError: (error) => showToast('No new plan', describeError(error).message),
  })
  const askAgain = (ask: RestoreAsk, before: Restore) => {
    if (!isSettled(before.status)) cancel.mutate(before.id)
    request.mutate(ask)
  }
  const { restore, body, actions } = useRestoreView({ id, onNext: go, onAskAgain: askAgain })
  return (
    <div className="mx-auto w-full max-w-2xl px-3 py-4 sm:px-4 sm:py-8">
      <Link
        href={paths.restores(project)}
        className="mb-2 inline-flex min-h-8 items-center gap-1.5 text-[0.8125rem] text-muted hover:text-text touch:min-h-11"
      >
        <ArrowLeft className="size-4" aria-hidden="true" /> All restores
      </Link>
      <div className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-xl font-semibold tracking-tight">Rewind</h1>
        {restore !== undefined && (
          <Badge tone={stateWords[restore.status].tone}>{stateWords[restore.status].label}</Badge>
        )}
      </div>
      {restore !== undefined && <RestoreFacts restore={restore} />}
      <div className="rounded-xl border border-line bg-surface p-4">
        <h2 className="sr-only">{restore?.report == null ? 'Plan' : 'Report'}</h2>
        {body}
        {restore?.status === 'awaiting-confirmation' && (
          <PlanOptions restore={restore} onAskAgain={askAgain} />
        )}
        <div className="mt-5 flex flex-col gap-2 border-t border-line pt-4 empty:hidden sm:flex-row-reverse">
          {actions}
        </div>
      </div>
    </div>
  )
}

function RestoreFacts({ restore }: { restore: Restore }) {
  return (
    <p className="mb-4 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
      <span className="mr-2">
        <OnlineDot isOnline={restore.machineOnline} />
      </span>
      {makeVisible(restore.machineName)} · asked for by {makeVisible(restore.requestedBy.name)} ·{' '}
      {formatMoment(restore.createdAt)} ·{' '}
      <Link
        href={paths.turn(restore.project, restore.turn)}
        className="text-accent-text underline underline-offset-2"
      >
        the turn
      </Link>
    </p>
  )
}
