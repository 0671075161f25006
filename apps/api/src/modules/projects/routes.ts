import { projectIdSchema, workspaceIdSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import type { Implement } from '#http/implement.ts'
import { readCursor, toPage } from '#http/page.ts'
import { getPersonsProject, listPersonsProjectPage, listProjectsWorkspaces, makeProject } from './service.ts'

export function projectRoutes(implement: Implement, deps: Deps): void {
  implement(routes.listProjects, async ({ actor, query }) => {
    const after = readCursor(query.cursor, projectIdSchema)
    const rows = await listPersonsProjectPage(deps, actor.id, { after, limit: query.limit + 1 })
    return toPage(rows, query.limit, (project) => project.id)
  })

  implement(routes.createProject, ({ actor, body, requestId }) =>
    makeProject(deps, actor.id, body.name, requestId),
  )

  implement(routes.getProject, ({ actor, params }) => getPersonsProject(deps, actor.id, params.project))

  implement(routes.listWorkspaces, async ({ params, query }) => {
    const after = readCursor(query.cursor, workspaceIdSchema)
    const rows = await listProjectsWorkspaces(deps, params.project, { after, limit: query.limit + 1 })
    return toPage(rows, query.limit, (workspace) => workspace.id)
  })
}
