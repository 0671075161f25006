import { DomainError, type MachineId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Deps } from '#deps.ts'
import type { Authenticator, MachineActor } from '#http/actor.ts'
import { assertBodyHash } from '#http/body.ts'
import { credentialsOf, type Implement } from '#http/implement.ts'
import { CLOSE } from '#http/socket.ts'
import { LinkConnection } from './connection.ts'
import { acknowledge, awaitMessages } from './service.ts'

const BEAT_MS = 20_000

export function commandRoutes(implement: Implement, deps: Deps): void {
  implement(routes.listCommands, async ({ actor, query, signal }) => {
    await acknowledge(deps, actor.id, query.ack)
    return { commands: await awaitMessages(deps, actor.id, { seconds: query.waitSeconds, signal }) }
  })
}

/** `WS /v1/machines/link`: presence, commands, receipts. Results travel by REST. */
export function linkRoutes(app: FastifyInstance, deps: Deps, authenticator: Authenticator): void {
  const links = new Map<MachineId, LinkConnection>()
  const actors = new WeakMap<FastifyRequest, MachineActor>()
  const unsubscribe = deps.bus.subscribe((message) => {
    for (const link of links.values()) link.onNews(message)
  })
  const beat = setInterval(() => {
    for (const link of links.values()) link.onBeat()
  }, BEAT_MS)
  const ending = new Set<Promise<void>>()

  app.addHook('preClose', async () => {
    clearInterval(beat)
    unsubscribe()
    for (const link of links.values()) link.close(CLOSE.restart, 'the service stops')
  })
  app.addHook('onClose', async () => {
    await Promise.all(ending)
  })

  app.route({
    method: 'GET',
    url: '/v1/machines/link',
    preValidation: async (request) => {
      const credentials = credentialsOf(request)
      // Browsers cannot sign; one that comes here is somebody's page.
      if (credentials.headers.has('origin')) throw new DomainError('CROSS_ORIGIN')
      const { actor, bodySha256 } = await authenticator.machine(credentials)
      assertBodyHash(new Uint8Array(), bodySha256)
      actors.set(request, actor)
    },
    handler: () => {
      throw new DomainError('NOT_FOUND')
    },
    wsHandler: (socket, request) => {
      const actor = actors.get(request)
      if (actor === undefined) throw new Error('a link without a machine')
      links.get(actor.id)?.close(CLOSE.replaced, 'another link')
      const link = new LinkConnection(deps, actor, socket, request.log)
      links.set(actor.id, link)
      socket.on('close', () => {
        if (links.get(actor.id) === link) links.delete(actor.id)
        const end = link.settled().finally(() => ending.delete(end))
        ending.add(end)
      })
    },
  })
}
