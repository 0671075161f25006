import { DomainError, type ProjectId, projectIdSchema } from '@turnback/core'
import type { Route, RouteAnswer, RouteParsed } from '@turnback/core/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type ActorOf, type Authenticator, actorName, type Credentials, isAtLeast } from './actor.ts'
import { type BytesAnswer, NotModified, sendAnswer, type WrittenAnswer, writeAnswer } from './answer.ts'
import { assertBodyHash, checkedBody } from './body.ts'
import { isKnown } from './etag.ts'
import { type AnswerKeeper, answerOnce, readIdempotencyKey } from './idempotency.ts'
import { refuseOtherSites } from './origin.ts'

export interface Call<R extends Route> extends RouteParsed<R> {
  readonly actor: ActorOf<R['access']>
  /** The body of a route that takes bytes: bounded, and checked against the signature when it has ended. */
  readonly bytes: AsyncIterable<Uint8Array>
  readonly requestId: string
  readonly ip: string
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal
  setHeader(name: string, value: string): void
  /**
   * For reads: nothing again for a caller who holds the answer with this tag, else what `make` makes, tagged.
   * Whether the caller may read it must be settled before.
   * @param isLasting false for an answer that may change and therefore gets no tag
   */
  unlessKnown<T>(
    etag: string,
    make: () => Promise<T>,
    isLasting?: (made: T) => boolean,
  ): Promise<T | NotModified>
}

export type Handler<R extends Route> = (call: Call<R>) => Promise<RouteAnswer<R> | BytesAnswer | NotModified>

interface Options {
  readonly rateLimit?: { readonly max: number; readonly timeWindow: string }
}

export type Implement = <R extends Route>(route: R, handler: Handler<R>, options?: Options) => void

/** Bodies of JSON routes are parsed here, after the signature over their bytes was checked. */
export const JSON_BODY_BYTES = 2 * 1024 * 1024

/**
 * Puts a route of the contract on the server: who may call it, what comes in and what goes out are taken from
 * the contract, so the handler sees valid values and answers can hold nothing the contract does not name.
 */
export function implementer(
  app: FastifyInstance,
  authenticator: Authenticator,
  ownOrigins: readonly string[],
  keeper: AnswerKeeper,
): Implement {
  return (route, handler, options = {}) => {
    app.route({
      method: route.method,
      url: route.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      bodyLimit: route.bytes?.maxBytes ?? JSON_BODY_BYTES,
      config: options.rateLimit === undefined ? {} : { rateLimit: options.rateLimit },
      handler: async (request, reply) => {
        const call = await prepare(route, request, reply, authenticator, ownOrigins)
        const work = async () => writeAnswer(route, await handler(call))
        await sendAnswer(reply, await repeatable(route, request, reply, call, keeper, work))
        return reply
      },
    })
  }
}

/** Does `work` once for an idempotency key, where the route takes one and the caller gave one. */
async function repeatable<R extends Route>(
  route: R,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call<R>,
  keeper: AnswerKeeper,
  work: () => Promise<WrittenAnswer>,
): Promise<WrittenAnswer> {
  const key = route.takesIdempotencyKey === true ? readIdempotencyKey(request.headers) : null
  if (key === null) return await work()
  const asked = {
    actor: actorName(call.actor),
    key,
    // As it was understood: the order of fields and white space do not make it another request.
    request: JSON.stringify([route.method, route.path, call.params, call.query, call.body]),
    requestId: call.requestId,
  }
  return await answerOnce(keeper, asked, work, {
    signal: call.signal,
    onReplay: () => reply.header('idempotency-replayed', 'true'),
    onPending: (seconds) => reply.header('retry-after', String(seconds)),
    onUnkept: (error) => request.log.error({ err: error }, 'an answer was not kept for its idempotency key'),
  })
}

async function prepare<R extends Route>(
  route: R,
  request: FastifyRequest,
  reply: FastifyReply,
  authenticator: Authenticator,
  ownOrigins: readonly string[],
): Promise<Call<R>> {
  const credentials = credentialsOf(request)
  const { actor, bodySha256 } = await identify(route, request, credentials, authenticator)
  if (route.method !== 'GET' && route.access.kind !== 'machine')
    refuseOtherSites(credentials.headers, ownOrigins)
  const body: unknown = request.body
  if (bodySha256 !== null && route.bytes === undefined)
    assertBodyHash(body instanceof Uint8Array ? body : new Uint8Array(), bodySha256)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const parsed = {
    params: parseParams(route, request.params),
    query: route.query?.parse(request.query),
    body: route.body?.parse(parseJson(body)),
  }
  return {
    // The schemas of this very route made these values; its type says the same in a form that TypeScript cannot follow.
    ...(parsed as RouteParsed<R>),
    actor: actor as ActorOf<R['access']>,
    bytes: checkedBody(bytesOf(body), { maxBytes: route.bytes?.maxBytes ?? 0, sha256: bodySha256 }),
    requestId: request.id,
    ip: request.ip,
    signal: gone.signal,
    setHeader: (name, value) => reply.header(name, value),
    unlessKnown: async (etag, make, isLasting = () => true) => {
      const hasIt = isKnown(request.headers['if-none-match'], etag)
      const made = hasIt ? new NotModified() : await make()
      // To be asked about each time: whoever may see it today may not tomorrow.
      if (made instanceof NotModified || isLasting(made))
        reply.headers({ etag, 'cache-control': 'private, no-cache' })
      return made
    },
  }
}

async function identify(
  route: Route,
  request: FastifyRequest,
  credentials: Credentials,
  authenticator: Authenticator,
): Promise<{ actor: unknown; bodySha256: string | null }> {
  switch (route.access.kind) {
    case 'public':
      return { actor: null, bodySha256: null }
    case 'machine':
      return await authenticator.machine(credentials)
    case 'person':
      return { actor: await authenticator.person(credentials), bodySha256: null }
    case 'member': {
      const person = await authenticator.person(credentials)
      const role = await authenticator.role(person.id, projectOf(request.params))
      if (role === null) throw new DomainError('PROJECT_NOT_FOUND')
      if (!isAtLeast(role, route.access.role)) throw new DomainError('FORBIDDEN')
      return { actor: { ...person, role }, bodySha256: null }
    }
  }
}

function projectOf(params: unknown): ProjectId {
  const parsed = z.object({ project: projectIdSchema }).safeParse(params)
  if (!parsed.success) throw new DomainError('PROJECT_NOT_FOUND')
  return parsed.data.project
}

/** An id that cannot be anybody's is told like one that is nobody's. */
function parseParams(route: Route, params: unknown): unknown {
  const parsed = route.params?.safeParse(params)
  if (parsed === undefined || parsed.success) return parsed?.data
  throw new DomainError(route.errors.find((code) => code.endsWith('_NOT_FOUND')) ?? 'NOT_FOUND')
}

function parseJson(body: unknown): unknown {
  if (!(body instanceof Uint8Array)) return undefined
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    throw new DomainError('VALIDATION_FAILED')
  }
}

async function* bytesOf(body: unknown): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else if (isIterable(body)) yield* body
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

export function credentialsOf(request: FastifyRequest): Credentials {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  return { method: request.method, url: request.raw.url ?? '', headers }
}
