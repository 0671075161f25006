import type { z } from 'zod'
import type { ErrorCode } from '#errors.ts'

/**
 * Who may call a route. Required on each route, so that a route without a decision does not compile.
 * - `public`: anyone · `person`: a signed-in person · `machine`: a signed request of an enrolled machine
 * - `member`: a person with at least this role in the route's project
 */
export type Access =
  | { readonly kind: 'public' }
  | { readonly kind: 'person' }
  | { readonly kind: 'machine' }
  | { readonly kind: 'member'; readonly role: Role }

export type Role = 'viewer' | 'member' | 'lead' | 'admin'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface RouteShape {
  readonly method: Method
  /** With `{name}` for parameters, as OpenAPI writes them. */
  readonly path: `/${string}`
  readonly summary: string
  readonly access: Access
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  /** JSON body; a route that takes bytes has `bytes` instead. */
  readonly body?: z.ZodType
  readonly bytes?: { readonly contentType: string; readonly maxBytes: number }
  /** JSON answer by its success status; `null` is an empty 204, `'bytes'` a stream. */
  readonly response: z.ZodType | null | 'bytes'
  readonly status?: 200 | 201 | 202 | 204
  /** Takes `Idempotency-Key`: sent again with the same key, it is done once and answered the same. */
  readonly takesIdempotencyKey?: true
  /** Answers carry an `ETag`; asked with `If-None-Match`, what the caller has is a 304. */
  readonly hasEtag?: true
  readonly errors: readonly ErrorCode[]
}

export type Route = RouteShape

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined
type Given<T> = T extends z.ZodType ? z.input<T> : undefined

/** What a handler gets after validation. */
export interface RouteParsed<R extends Route> {
  readonly params: Parsed<R['params']>
  readonly query: Parsed<R['query']>
  readonly body: Parsed<R['body']>
}

/** What a caller gives. */
export interface RouteInput<R extends Route> {
  readonly params: Given<R['params']>
  readonly query: Given<R['query']>
  readonly body: Given<R['body']>
}

/** What a handler answers with, before it is validated and written. */
export type RouteAnswer<R extends Route> = R['response'] extends z.ZodType
  ? z.input<R['response']>
  : undefined
/** What a caller reads. */
export type RouteResult<R extends Route> = R['response'] extends z.ZodType
  ? z.output<R['response']>
  : undefined

/** Declares one route of the wire contract; keeps the literal types that handlers and callers need. */
export function defineRoute<const R extends Route>(route: R): R {
  return route
}
