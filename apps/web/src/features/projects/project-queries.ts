import { mutationOptions, queryOptions } from '@tanstack/react-query'
import { routes } from '@turnback/core/api'
import { callApi } from '#lib/api.ts'

/** Nobody has more projects than one page; a chooser over more would need a search. */
const LIMIT = 200

export const projectsQuery = () =>
  queryOptions({
    queryKey: [routes.listProjects.path],
    queryFn: ({ signal }) => callApi(routes.listProjects, { query: { limit: LIMIT } }, { signal }),
    // Nobody sends news of a project that one does not follow yet: the first one is looked for.
    refetchInterval: (query) => (query.state.data?.items.length === 0 ? 4_000 : false),
  })

export const createProjectMutation = () =>
  mutationOptions({
    mutationFn: (name: string) => callApi(routes.createProject, { body: { name } }),
  })
