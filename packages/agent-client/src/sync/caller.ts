import { DomainError, type ErrorBody, type ErrorCode } from '@turnback/core'
import { problemSchema, type Route, type RouteInput, type RouteResult } from '@turnback/core/api'
import type { Clock } from '#ports.ts'
import { type HttpAnswer, type HttpRequest, type HttpSender, makeHttpSender } from './http.ts'
import { type RequestSigner, sha256Hex, signRequest } from './request-signature.ts'

/** What a route is called with: only what it declares, and bytes for a route that takes bytes. */
export type CallInput<R extends Route> = {
  readonly [K in keyof RouteInput<R> as RouteInput<R>[K] extends undefined ? never : K]: RouteInput<R>[K]
} & (R extends { readonly bytes: object } ? { readonly bytes: readonly Uint8Array[] } : unknown)

export interface CallOptions {
  readonly idleMs?: number
  readonly signal?: AbortSignal
}

/** Calls routes of the wire contract at one service. */
export interface Caller {
  readonly server: URL
  /**
   * @throws the service's own DomainError · SERVER_UNREACHABLE when no answer of a Turnback service came; then
   * it is not known whether the request was carried out
   */
  call<R extends Route>(route: R, input: CallInput<R>, options?: CallOptions): Promise<RouteResult<R>>
  /** Headers that let this machine in, for a request that is made elsewhere: the link. */
  authorize(method: string, path: string): Record<string, string>
  close(): void
}

export interface CallerParts {
  readonly server: URL
  readonly clock: Clock
  random(bytes: number): Uint8Array
  /** Null before enrolment: only public routes can be called. */
  readonly signer: RequestSigner | null
  /** `$TURNBACK_TOKEN`: goes instead of a signature. */
  readonly bearer: string | null
  readonly http?: HttpSender
}

const IDLE_MS = 30_000

export function makeCaller(parts: CallerParts): Caller {
  const http = parts.http ?? makeHttpSender()
  const authorization = (
    method: string,
    path: string,
    body: readonly Uint8Array[],
  ): Record<string, string> => {
    if (parts.bearer !== null) return { authorization: `Bearer ${parts.bearer}` }
    if (parts.signer === null) return {}
    const request = { method, path, bodySha256: sha256Hex(body) }
    return { authorization: signRequest(parts.signer, request, parts.clock.nowMs(), parts.random(16)) }
  }
  return {
    server: parts.server,
    authorize: (method, path) => authorization(method, path, []),
    async call(route, input, options = {}) {
      const given: LooseInput = input
      const url = urlOf(parts.server, route, given)
      const body = bodyOf(route, given)
      const make = (): HttpRequest => ({
        method: route.method,
        url,
        body: body.pieces,
        headers: {
          accept: 'application/json',
          ...(body.contentType === null ? {} : { 'content-type': body.contentType }),
          ...(route.access.kind === 'public'
            ? {}
            : authorization(route.method, url.pathname + url.search, body.pieces)),
        },
        idleMs: options.idleMs ?? IDLE_MS,
        signal: options.signal,
      })
      const answer = await sendAgainIfStale(http, make, options.signal)
      return readResult(route, url, answer)
    },
    close: () => http.close(),
  }
}

interface LooseInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly bytes?: readonly Uint8Array[]
}

/** A kept connection that the server had just closed fails at once; the request, signed anew, gets a second one. */
async function sendAgainIfStale(
  http: HttpSender,
  make: () => HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  try {
    return await http.send(make())
  } catch (error) {
    const why = error instanceof DomainError ? error.details.why : null
    if (signal?.aborted === true || (why !== 'ECONNRESET' && why !== 'EPIPE')) throw error
    return http.send(make())
  }
}

function urlOf(server: URL, route: Route, input: LooseInput): URL {
  const params = asRecord(input.params)
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const url = new URL(server.pathname.replace(/\/$/, '') + path, server)
  for (const [name, value] of Object.entries(asRecord(input.query))) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one))
    }
  }
  return url
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
}

function bodyOf(
  route: Route,
  input: LooseInput,
): { contentType: string | null; pieces: readonly Uint8Array[] } {
  if (route.bytes !== undefined) return { contentType: route.bytes.contentType, pieces: input.bytes ?? [] }
  if (route.body === undefined) return { contentType: null, pieces: [] }
  return { contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(input.body))] }
}

function readResult<R extends Route>(route: R, url: URL, answer: HttpAnswer): RouteResult<R> {
  if (answer.status < 200 || answer.status > 299) throw errorOf(url, answer)
  const { response } = route
  // The conditional type of a generic route is not narrowed by looking at its values.
  if (response === null || response === 'bytes') return undefined as RouteResult<R>
  const parsed = response.safeParse(readJson(answer))
  if (!parsed.success) throw notTurnback(url, answer, parsed.error)
  return parsed.data as RouteResult<R>
}

/** The service's own error, from problem+json; from anything else the error that says what stands at this address. */
function errorOf(url: URL, answer: HttpAnswer): DomainError {
  const problem = problemSchema.safeParse(readJson(answer))
  if (!problem.success) return plainErrorOf(url, answer)
  const details: Record<string, unknown> = { ...problem.data.details, status: answer.status }
  if (answer.retryAfterSeconds !== null) details.retryAfterSeconds = answer.retryAfterSeconds
  if (answer.requestId !== null) details.requestId = answer.requestId
  const body: ErrorBody = { code: problem.data.code, message: problem.data.detail, details }
  const known = DomainError.fromJSON(body)
  if (known !== null) return known
  return new DomainError(
    codeOf(answer.status),
    { ...details, serverCode: problem.data.code },
    { message: problem.data.detail },
  )
}

/** For a code of another version: what its number says, and nothing that would condemn what was sent. */
function codeOf(status: number): ErrorCode {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED'
    case 413:
      return 'PAYLOAD_TOO_LARGE'
    case 429:
      return 'RATE_LIMITED'
    case 503:
      return 'STORAGE_UNAVAILABLE'
    default:
      return 'INTERNAL'
  }
}

/** What a proxy in between says. It takes no turn's fault for granted, but for the one that names the size. */
function plainErrorOf(url: URL, answer: HttpAnswer): DomainError {
  if (answer.status === 413) return new DomainError('PAYLOAD_TOO_LARGE', { status: 413, server: url.origin })
  return notTurnback(url, answer)
}

function notTurnback(url: URL, answer: HttpAnswer, cause?: unknown): DomainError {
  const answered = answer.status >= 500 ? 'does not work now' : 'did not answer as a Turnback service'
  return new DomainError(
    'SERVER_UNREACHABLE',
    {
      server: url.origin,
      status: answer.status,
      why: answer.status >= 500 ? `HTTP ${answer.status}` : 'NOT_TURNBACK',
    },
    {
      message: `${url.origin} ${answered} (HTTP ${answer.status}).`,
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

function readJson(answer: HttpAnswer): unknown {
  try {
    return JSON.parse(answer.body.toString('utf8'))
  } catch {
    return undefined
  }
}
