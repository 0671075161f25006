import { routes } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import { readAll } from '#http/body.ts'
import type { Implement } from '#http/implement.ts'
import { acceptHead } from './head-service.ts'
import { acceptPack, findMissing } from './pack-service.ts'
import { acceptTurn } from './turn-service.ts'

export function pushRoutes(implement: Implement, deps: Deps): void {
  implement(routes.findMissingBlobs, async ({ actor, params, body }) => ({
    missing: await findMissing(deps, actor, params.workspace, body.ids),
  }))

  implement(routes.putPack, ({ actor, params, bytes, requestId }) =>
    acceptPack(deps, actor, { ...params, body: bytes }, requestId),
  )

  implement(routes.putTurn, async ({ actor, params, bytes, requestId }) =>
    acceptTurn(deps, actor, params.turn, await readAll(bytes), requestId),
  )

  implement(routes.putHead, async ({ actor, params, bytes, requestId }) =>
    acceptHead(deps, actor, params.workspace, await readAll(bytes), requestId),
  )
}
