'use client'

import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { RestoreId } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { routes } from '@turnback/core/api'
import { useEffect } from 'react'
import { isSettled, readRestore, restoreQuery } from './restore-queries.ts'

const WAIT_SECONDS = 20
/** Between two long waits, so that a service that answers at once is not asked in a circle. */
const PAUSE_MS = 800

/** A restore, kept up to date until it is settled: by a long wait beside the live news. */
export function useRestore(id: RestoreId) {
  const query = useQuery(restoreQuery(id))
  const queryClient = useQueryClient()
  const status = query.data?.status
  const isOpen = status !== undefined && !isSettled(status)
  useEffect(() => {
    if (!isOpen) return
    const stop = new AbortController()
    const { queryKey } = restoreQuery(id)
    const follow = async () => {
      while (!stop.signal.aborted) {
        // A failed wait is no news; the query itself tells of a service that does not answer.
        const next = await readRestore(id, WAIT_SECONDS, stop.signal).catch(() => null)
        if (next !== null) queryClient.setQueryData<Restore>(queryKey, (known) => newerOf(known, next))
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
    void follow()
    return () => stop.abort()
  }, [id, isOpen, queryClient])
  useEffect(() => {
    if (status === undefined || !isSettled(status)) return
    // The restore is a turn and marks others: lists that show them are read again, live link or not.
    for (const path of [routes.listTurns.path, routes.getTurn.path, routes.listRestores.path]) {
      void queryClient.invalidateQueries({ queryKey: [path] })
    }
  }, [status, queryClient])
  return query
}

/** The later of two readings: a long wait may answer after a shorter one that began later. */
export function newerOf(known: Restore | undefined, next: Restore): Restore {
  return known !== undefined && known.updatedAt > next.updatedAt ? known : next
}
