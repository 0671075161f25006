import { restoreIdSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { z } from 'zod'
import type { Deps } from '#deps.ts'
import { readAll } from '#http/body.ts'
import type { Implement } from '#http/implement.ts'
import { readCursor, toPage } from '#http/page.ts'
import { acceptPlan, acceptReport } from './machine-service.ts'
import {
  awaitRestore,
  cancelRestore,
  confirmRestore,
  listRestorePage,
  requestRestore,
  undoRestore,
} from './service.ts'

/** `<milliseconds> <id>` of the last restore on the page. */
const keySchema = z.templateLiteral([z.int().min(0), ' ', restoreIdSchema]).transform((key) => ({
  createdAt: new Date(Number(key.split(' ')[0])),
  id: restoreIdSchema.parse(key.split(' ')[1]),
}))

export function restoreRoutes(implement: Implement, deps: Deps): void {
  implement(routes.createRestore, ({ actor, body, requestId }) =>
    requestRestore(deps, actor, body, requestId),
  )

  implement(routes.getRestore, ({ actor, params, query, signal }) =>
    awaitRestore(deps, actor.id, params.restore, { seconds: query.waitSeconds, signal }),
  )

  implement(routes.listRestores, async ({ params, query }) => {
    const before = readCursor(query.cursor, keySchema)
    const rows = await listRestorePage(deps, params.project, { before, limit: query.limit + 1 })
    return toPage(rows, query.limit, (row) => `${Date.parse(row.createdAt)} ${row.id}`)
  })

  implement(routes.confirmRestore, ({ actor, params, body, requestId }) =>
    confirmRestore(deps, actor, params.restore, body.token, requestId),
  )

  implement(routes.cancelRestore, ({ actor, params, requestId }) =>
    cancelRestore(deps, actor, params.restore, requestId),
  )

  implement(routes.undoRestore, ({ actor, params, requestId }) =>
    undoRestore(deps, actor, params.restore, requestId),
  )

  implement(routes.putPlan, async ({ actor, params, bytes, requestId }) => ({
    status: await acceptPlan(deps, actor, params.restore, await readAll(bytes), requestId),
  }))

  implement(routes.putReport, async ({ actor, params, bytes, requestId }) => ({
    status: await acceptReport(deps, actor, params.restore, await readAll(bytes), requestId),
  }))
}
