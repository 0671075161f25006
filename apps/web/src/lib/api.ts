import type { Route, RouteInput, RouteResult } from '@turnback/core/api'
import { problemSchema } from '@turnback/core/api'

type Part = 'params' | 'query' | 'body'

/** What a caller gives: only the parts that the route has. */
export type CallInput<R extends Route> = { readonly [P in Extract<keyof R, Part>]: RouteInput<R>[P] }

interface Parts {
  readonly params?: object | undefined
  readonly query?: object | undefined
  readonly body?: unknown
}

/** A refusal of the service, or none heard at all. Programs decide by `code` alone. */
export class ApiError extends Error {
  readonly code: string
  /** 0 when no answer came. */
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | null

  constructor(
    code: string,
    message: string,
    options: {
      status: number
      details?: Record<string, unknown>
      retryAfterSeconds?: number | null
      cause?: unknown
    },
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.status = options.status
    this.details = options.details ?? {}
    this.retryAfterSeconds = options.retryAfterSeconds ?? null
  }
}

export function isApiError(error: unknown, code?: string): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code)
}

/** Address of a call below the page's own origin. Parameters are escaped, absent query fields left out. */
export function urlOf(path: string, params: object = {}, query: object = {}): string {
  const given = new Map(Object.entries(params))
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.get(name))))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text === '' ? filled : `${filled}?${text}`
}

/**
 * Calls one route of the wire contract and checks that the answer is what the contract says.
 * @throws ApiError for every refusal, for no answer (`SERVER_UNREACHABLE`) and for an answer in a form
 *   this page does not know (`PAGE_OUTDATED`); an abort passes through as it is.
 */
export async function callApi<R extends Route>(
  route: R,
  input: CallInput<R>,
  options: { signal?: AbortSignal } = {},
): Promise<RouteResult<R>> {
  const parts: Parts = input
  const response = await send(
    route.method,
    urlOf(route.path, parts.params, parts.query),
    parts.body,
    options.signal,
  )
  const { response: answer } = route
  // The schema that parsed the answer is the one that RouteResult is made from; the compiler cannot see that.
  if (answer === null || answer === 'bytes') return undefined as RouteResult<R>
  const parsed = answer.safeParse(await readJson(response))
  if (!parsed.success) {
    throw new ApiError('PAGE_OUTDATED', 'The service answered in a form that this page does not know.', {
      status: response.status,
      cause: parsed.error,
    })
  }
  return parsed.data as RouteResult<R>
}

/**
 * One request with the session's cookie.
 * @throws ApiError as {@link callApi} does
 */
export async function send(
  method: string,
  url: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiError('SERVER_UNREACHABLE', 'The Turnback service does not answer.', { status: 0, cause })
  }
  if (!response.ok) throw await readProblem(response)
  return response
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (cause) {
    throw new ApiError('SERVER_UNREACHABLE', 'The answer of the service was cut off.', {
      status: response.status,
      cause,
    })
  }
}

async function readProblem(response: Response): Promise<ApiError> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null
  const body: unknown = await response.json().catch(() => null)
  const problem = problemSchema.partial().safeParse(body)
  if (problem.success && problem.data.code !== undefined) {
    const { code, detail, title, details } = problem.data
    return new ApiError(code, detail ?? title ?? code, {
      status: response.status,
      retryAfterSeconds,
      ...(details === undefined ? {} : { details }),
    })
  }
  return new ApiError(codeOfStatus(response.status), response.statusText, {
    status: response.status,
    retryAfterSeconds,
  })
}

/** For answers that are not of our service: a proxy in between, or the sign-in routes. */
function codeOfStatus(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED'
  if (status === 403) return 'FORBIDDEN'
  if (status === 404) return 'NOT_FOUND'
  if (status === 413) return 'PAYLOAD_TOO_LARGE'
  if (status === 429) return 'RATE_LIMITED'
  if (status === 502 || status === 503 || status === 504) return 'SERVER_UNREACHABLE'
  return 'INTERNAL'
}
