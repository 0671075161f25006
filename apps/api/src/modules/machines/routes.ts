import { machineIdSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import type { Implement } from '#http/implement.ts'
import { readCursor, toPage } from '#http/page.ts'
import { enroll, makeEnrollment } from './enrollment-service.ts'
import { listMachinesFor, registerWorkspace, removeMachine } from './service.ts'

export function machineRoutes(implement: Implement, deps: Deps): void {
  implement(routes.listMachines, async ({ actor, query }) => {
    const after = readCursor(query.cursor, machineIdSchema)
    const rows = await listMachinesFor(deps, actor.id, { after, limit: query.limit + 1 })
    return toPage(rows, query.limit, (machine) => machine.id)
  })

  implement(routes.createEnrollment, ({ actor, body, requestId }) =>
    makeEnrollment(deps, { id: actor.id }, body.project ?? null, requestId),
  )

  implement(routes.enrollMachine, ({ body, requestId }) => enroll(deps, body, requestId), {
    rateLimit: { max: 20, timeWindow: '1 minute' },
  })

  implement(routes.removeMachine, async ({ actor, params, requestId }) => {
    await removeMachine(deps, actor, params.machine, requestId)
    return undefined
  })

  implement(routes.putWorkspace, ({ actor, params, body, requestId }) =>
    registerWorkspace(deps, actor, { id: params.workspace, ...body }, requestId),
  )
}
