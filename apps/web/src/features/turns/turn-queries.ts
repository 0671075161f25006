import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { ProjectId, TurnId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { callApi } from '#lib/api.ts'
import type { TurnFilters } from './turn-filters.ts'

const PAGE = 50

export const turnsQuery = (project: ProjectId, filters: TurnFilters) =>
  infiniteQueryOptions({
    queryKey: [routes.listTurns.path, { project, ...filters }],
    queryFn: ({ pageParam, signal }) =>
      callApi(
        routes.listTurns,
        {
          params: { project },
          query: { ...filters, limit: PAGE, ...(pageParam === null ? {} : { cursor: pageParam }) },
        },
        { signal },
      ),
    initialPageParam: firstPage(),
    getNextPageParam: (last) => last.nextCursor,
  })

export const turnQuery = (turn: TurnId) =>
  queryOptions({
    queryKey: [routes.getTurn.path, { turn }],
    queryFn: ({ signal }) => callApi(routes.getTurn, { params: { turn } }, { signal }),
  })

/** The machines that filters can choose from. */
export const machineNamesQuery = () =>
  queryOptions({
    queryKey: [routes.listMachines.path],
    queryFn: ({ signal }) => callApi(routes.listMachines, { query: { limit: 200 } }, { signal }),
    staleTime: 60_000,
  })

function firstPage(): string | null {
  return null
}
