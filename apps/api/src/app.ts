import websocket from '@fastify/websocket'
import { DomainError, limits } from '@turnback/core'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Authenticator } from '#http/actor.ts'
import { docsRoutes } from '#http/docs.ts'
import { passToWeb } from '#http/front-door.ts'
import { implementer } from '#http/implement.ts'
import { ownOriginsOf } from '#http/origin.ts'
import { createServer, prepareApi, sendNotFound } from '#http/server.ts'
import {
  accountRoutes,
  authenticatePerson,
  authRoutes,
  createAuth,
  findPersonsRole,
} from '#modules/accounts/index.ts'
import { healthRoutes } from '#modules/health/index.ts'
import { createAnswerKeeper } from '#modules/idempotency/index.ts'
import { commandRoutes, linkRoutes } from '#modules/link/index.ts'
import { liveRoutes } from '#modules/live/index.ts'
import { authenticateMachine, machineRoutes } from '#modules/machines/index.ts'
import { projectRoutes } from '#modules/projects/index.ts'
import { pushRoutes } from '#modules/push/index.ts'
import { restoreRoutes } from '#modules/restores/index.ts'
import { turnRoutes } from '#modules/turns/index.ts'
import type { Deps } from './deps.ts'

/** The whole service without a port: reads no environment, opens nothing that it does not close. */
export async function buildApp(
  deps: Deps,
  options: { readonly logger?: FastifyServerOptions['logger'] } = {},
): Promise<FastifyInstance> {
  const { config } = deps
  const app = createServer({ trustedProxies: config.trustedProxies, logger: options.logger ?? false })
  sendNotFound(app)
  // biome-ignore lint/nursery/noMisusedPromises: plugins may be asynchronous; the rule sees the other overload only
  await app.register(async (api) => {
    await prepareApi(api)
    await api.register(websocket, {
      options: { maxPayload: limits.socketFrameBytes, perMessageDeflate: false },
      // Each socket's owner closes it, with a reason.
      preClose: (done) => done(),
    })
    const auth = createAuth({ db: deps.db, publicUrl: config.publicUrl, secret: config.secret })
    const authenticator: Authenticator = {
      person: ({ headers }) => authenticatePerson(auth, headers),
      machine: (credentials) => authenticateMachine(deps, credentials),
      role: (personId, project) => findPersonsRole(deps, personId, project),
    }
    const implement = implementer(
      api,
      authenticator,
      ownOriginsOf(config.publicUrl),
      createAnswerKeeper(deps),
    )
    healthRoutes(implement, deps)
    accountRoutes(implement, deps, auth)
    authRoutes(api, deps, auth)
    projectRoutes(implement, deps)
    machineRoutes(implement, deps)
    commandRoutes(implement, deps)
    pushRoutes(implement, deps)
    turnRoutes(implement, deps)
    restoreRoutes(implement, deps)
    linkRoutes(api, deps, authenticator)
    liveRoutes(api, deps, authenticator)
    await docsRoutes(api, config.version)
    // Below /v1 there is nothing but the API: the web never sees it.
    api.all('/v1/*', () => {
      throw new DomainError('NOT_FOUND')
    })
  })
  if (config.webOrigin !== null) await passToWeb(app, config.webOrigin)
  return app
}
