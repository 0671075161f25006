import { randomUUID } from 'node:crypto'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import { DomainError } from '@turnback/core'
import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify'
import { HTTP_STATUS, PROBLEM, toDomainError, toProblem } from './errors.ts'
import { JSON_BODY_BYTES } from './implement.ts'

/** A Fastify without routes: bounds, headers, error form. */
export function createServer(options: {
  readonly trustedProxies: readonly string[]
  readonly logger: FastifyServerOptions['logger']
}): FastifyInstance {
  return fastify({
    logger: options.logger ?? false,
    logController: new LogController({ disableRequestLogging: true }),
    frameworkErrors: (thrown, request, reply) => {
      const error = toDomainError(thrown)
      reply.hijack()
      reply.raw.writeHead(HTTP_STATUS[error.code], { 'content-type': PROBLEM, connection: 'close' })
      reply.raw.end(JSON.stringify(toProblem(error, request.id)))
    },
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    genReqId: () => randomUUID(),
    bodyLimit: JSON_BODY_BYTES,
    connectionTimeout: 20_000,
    requestTimeout: 300_000,
    routerOptions: { maxParamLength: 3 * 4096 },
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error',
    forceCloseConnections: true,
    return503OnClosing: true,
  })
}

/** What all API routes share. Not for pages that are passed on to the web: those bring their own headers. */
export async function prepareApi(app: FastifyInstance): Promise<void> {
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.addContentTypeParser(/^application\/vnd\.turnback\./, (_request, payload, done) => done(null, payload))
  app.removeContentTypeParser('text/plain')
  app.setErrorHandler((thrown, request, reply) => {
    const error = toDomainError(thrown)
    const status = HTTP_STATUS[error.code]
    if (status >= 500) request.log.error({ err: error.cause ?? error, code: error.code }, 'request failed')
    // The rest of a body that was refused half-way is not read: the connection cannot be used again.
    if (!request.raw.complete) reply.header('connection', 'close')
    return reply
      .code(status)
      .type(PROBLEM)
      .send(JSON.stringify(toProblem(error, request.id)))
  })
  app.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
  app.addHook('onResponse', async (request, reply) => {
    // The route's pattern, never the address: ids and queries stay out of the log's plain sight.
    const facts = {
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    request.log.info(facts, `${request.method} ${facts.route ?? 'unknown'} ${facts.status}`)
  })
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        'default-src': ["'none'"],
        'frame-ancestors': ["'none'"],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
      },
    },
    referrerPolicy: { policy: 'no-referrer' },
  })
  await app.register(rateLimit, {
    global: false,
    errorResponseBuilder: () => new DomainError('RATE_LIMITED'),
  })
}

/** An address that nothing answers at. */
export function sendNotFound(app: FastifyInstance): void {
  app.setNotFoundHandler((request, reply) => {
    const error = new DomainError('NOT_FOUND')
    return reply
      .code(404)
      .type(PROBLEM)
      .send(JSON.stringify(toProblem(error, request.id)))
  })
}
