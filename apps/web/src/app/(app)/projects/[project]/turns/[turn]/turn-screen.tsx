'use client'

import { useQuery } from '@tanstack/react-query'
import type { ProjectId, TurnId } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { useState } from 'react'
import { TurnFiles } from '#features/diff/turn-files.tsx'
import type { RestoreAsk } from '#features/restores/restore-queries.ts'
import { actionOf, RewindBar } from '#features/restores/rewind-bar.tsx'
import { RewindSheet } from '#features/restores/rewind-sheet.tsx'
import { TurnPage } from '#features/turns/turn-page.tsx'
import { turnQuery } from '#features/turns/turn-queries.ts'

/** Puts the turn, its files and the way back together; the parts do not know each other. */
export function TurnScreen({ project, turn }: { project: ProjectId; turn: TurnId }) {
  const [ask, setAsk] = useState<RestoreAsk | null>(null)
  const summary = useQuery(turnQuery(turn)).data?.summary
  const onRestore =
    summary === undefined || summary.kind === 'outside'
      ? undefined
      : (path: string) => setAsk({ workspace: summary.workspace, turn, mode: 'preview', paths: [path] })
  return (
    <>
      <TurnPage
        project={project}
        turn={turn}
        files={<TurnFiles turn={turn} onRestore={onRestore} />}
        actions={(loaded: TurnSummary) => <RewindBar turn={loaded} onAsk={setAsk} />}
      />
      <RewindSheet
        project={project}
        ask={ask}
        title={ask?.paths === undefined ? actionOf(summary?.kind ?? 'agent') : 'Rewind one file'}
        onClose={() => setAsk(null)}
      />
    </>
  )
}
