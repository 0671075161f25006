import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { TurnId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { callApi, urlOf } from '#lib/api.ts'

const HOUR = 3_600_000

/** Paths of a turn, in pages of at most 500. A turn is written once, so what was read stays true. */
export const entriesQuery = (turn: TurnId) =>
  infiniteQueryOptions({
    queryKey: [routes.listEntries.path, { turn }],
    queryFn: ({ pageParam, signal }) =>
      callApi(
        routes.listEntries,
        { params: { turn }, query: pageParam === null ? {} : { cursor: pageParam } },
        { signal },
      ),
    initialPageParam: firstPage(),
    getNextPageParam: (last) => last.nextCursor,
    staleTime: HOUR,
  })

/** The change of one path. */
export const diffQuery = (turn: TurnId, path: string) =>
  queryOptions({
    queryKey: [routes.getDiff.path, { turn, path }],
    queryFn: async ({ signal }) => {
      const page = await callApi(routes.getDiff, { params: { turn }, query: { path, limit: 1 } }, { signal })
      return page.items.find((file) => file.path === path) ?? null
    },
    staleTime: HOUR,
    gcTime: 120_000,
  })

/** Where the bytes of one side are. */
export function rawUrl(turn: TurnId, path: string, side: 'before' | 'after'): string {
  return urlOf(routes.getFile.path, { turn, path }, { side })
}

function firstPage(): string | null {
  return null
}
