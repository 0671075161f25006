import { DomainError, type ProjectId } from '@turnback/core'
import type { LiveNews } from '@turnback/core/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BusListener } from '#bus/bus.ts'
import type { Deps } from '#deps.ts'
import type { Authenticator, PersonActor } from '#http/actor.ts'
import { credentialsOf } from '#http/implement.ts'
import { ownOriginsOf } from '#http/origin.ts'
import { CLOSE } from '#http/socket.ts'
import { listMachinesProjects } from '#modules/machines/index.ts'
import { Viewer } from './viewer.ts'

const BEAT_MS = 20_000
const REVALIDATE_MS = 60_000
const SOCKETS_PER_PERSON = 20

/** `WS /v1/live`: tells browsers what to read again. */
export function liveRoutes(app: FastifyInstance, deps: Deps, authenticator: Authenticator): void {
  const origins = ownOriginsOf(deps.config.publicUrl)
  const viewers = new Map<Viewer, string>()
  const actors = new WeakMap<FastifyRequest, PersonActor>()
  const tell = (news: LiveNews & { readonly project: ProjectId }) => {
    for (const viewer of viewers.keys()) if (viewer.projects.has(news.project)) viewer.say(news)
  }
  const onNews = async (message: Parameters<BusListener>[0]) => {
    switch (message.type) {
      case 'gap':
        for (const viewer of viewers.keys()) viewer.close(CLOSE.restart, 'something was missed')
        return
      case 'turn':
      case 'restore':
        return tell(message)
      case 'machine': {
        if (viewers.size === 0) return
        const { machine } = message
        for (const project of await listMachinesProjects(deps, machine))
          tell({ type: 'machine', project, machine })
        return
      }
      case 'command':
      case 'revoked':
        return
    }
  }
  const logFailure = (error: unknown) => app.log.error({ err: error }, 'live news failed')
  const unsubscribe = deps.bus.subscribe((message) => void onNews(message).catch(logFailure))
  const beat = setInterval(() => {
    for (const viewer of viewers.keys()) viewer.onBeat()
  }, BEAT_MS)
  const check = setInterval(() => {
    for (const viewer of viewers.keys()) viewer.revalidate().catch(logFailure)
  }, REVALIDATE_MS)

  app.addHook('preClose', async () => {
    clearInterval(beat)
    clearInterval(check)
    unsubscribe()
    for (const viewer of viewers.keys()) viewer.close(CLOSE.restart, 'the service stops')
  })

  app.route({
    method: 'GET',
    url: '/v1/live',
    preValidation: async (request) => {
      const credentials = credentialsOf(request)
      // Cookies go along with any page's sockets: only our own pages may open one.
      if (!origins.includes(credentials.headers.get('origin') ?? '')) throw new DomainError('CROSS_ORIGIN')
      const actor = await authenticator.person(credentials)
      const open = [...viewers.values()].filter((id) => id === actor.id).length
      if (open >= SOCKETS_PER_PERSON) throw new DomainError('RATE_LIMITED')
      actors.set(request, actor)
    },
    handler: () => {
      throw new DomainError('NOT_FOUND')
    },
    wsHandler: (socket, request) => {
      const actor = actors.get(request)
      if (actor === undefined) throw new Error('a viewer without a person')
      const credentials = credentialsOf(request)
      const rules = {
        mayRead: async (project: ProjectId) => (await authenticator.role(actor.id, project)) !== null,
        isSignedIn: () =>
          authenticator.person(credentials).then(
            () => true,
            () => false,
          ),
      }
      const viewer = new Viewer(socket, rules, request.log)
      viewers.set(viewer, actor.id)
      socket.on('close', () => viewers.delete(viewer))
    },
  })
}
