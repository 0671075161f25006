import { infiniteQueryOptions, mutationOptions, queryOptions } from '@tanstack/react-query'
import type { ConflictChoice, ProjectId, RestoreId, Scope, TurnId, WorkspaceId } from '@turnback/core'
import { type Restore, type RestoreState, routes } from '@turnback/core/api'
import { callApi } from '#lib/api.ts'

/** What the page asks for; what is left out is as the contract has it by default. */
export interface RestoreAsk {
  readonly workspace: WorkspaceId
  readonly turn: TurnId
  readonly mode: 'preview' | 'run'
  readonly scope?: Scope
  readonly paths?: string[]
  readonly onConflict?: ConflictChoice
  readonly exact?: boolean
  readonly allowHeadChange?: boolean
}

const settled: Readonly<Record<RestoreState, boolean>> = {
  queued: false,
  planning: false,
  'awaiting-confirmation': false,
  applying: false,
  done: true,
  'partly-done': true,
  refused: true,
  failed: true,
  expired: true,
  cancelled: true,
}

/** Whether nothing more will happen by itself or by a tap. */
export function isSettled(status: RestoreState): boolean {
  return settled[status]
}

export const restoreQuery = (restore: RestoreId) =>
  queryOptions({
    queryKey: [routes.getRestore.path, { restore }],
    queryFn: ({ signal }) => readRestore(restore, 0, signal),
    // News and the long wait are faster; this is for when both are lost.
    refetchInterval: (query) =>
      query.state.data !== undefined && isSettled(query.state.data.status) ? false : 5_000,
  })

export function readRestore(restore: RestoreId, waitSeconds: number, signal: AbortSignal): Promise<Restore> {
  return callApi(routes.getRestore, { params: { restore }, query: { waitSeconds } }, { signal })
}

export const restoresQuery = (project: ProjectId) =>
  infiniteQueryOptions({
    queryKey: [routes.listRestores.path, { project }],
    queryFn: ({ pageParam, signal }) =>
      callApi(
        routes.listRestores,
        { params: { project }, query: { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        { signal },
      ),
    initialPageParam: firstPage(),
    getNextPageParam: (last) => last.nextCursor,
  })

export const askMutation = () =>
  mutationOptions({ mutationFn: (ask: RestoreAsk) => callApi(routes.createRestore, { body: ask }) })

export const confirmMutation = () =>
  mutationOptions({
    mutationFn: ({ restore, token }: { restore: RestoreId; token: string }) =>
      callApi(routes.confirmRestore, { params: { restore }, body: { token } }),
  })

export const cancelMutation = () =>
  mutationOptions({
    mutationFn: (restore: RestoreId) => callApi(routes.cancelRestore, { params: { restore } }),
  })

export const undoMutation = () =>
  mutationOptions({
    mutationFn: (restore: RestoreId) => callApi(routes.undoRestore, { params: { restore } }),
  })

function firstPage(): string | null {
  return null
}
