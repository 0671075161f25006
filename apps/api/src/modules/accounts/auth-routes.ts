import { DomainError } from '@turnback/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '#deps.ts'
import { credentialsOf } from '#http/implement.ts'
import { ownOriginsOf, refuseOtherSites } from '#http/origin.ts'
import type { Auth } from './auth.ts'
import { FailureLimit } from './failure-limit.ts'
import { recordSignIn } from './sign-in-service.ts'

/** What of better-auth is open to the world; all the rest of it does not exist here. */
const OPEN = new Set([
  'POST /sign-in/email',
  'POST /sign-out',
  'GET /get-session',
  'POST /change-password',
  'POST /revoke-sessions',
])
const SIGN_IN = 'POST /sign-in/email'
const FAILURES_PER_ACCOUNT = 5
const FAILURE_WINDOW_MS = 15 * 60 * 1000

const signInSchema = z.object({ email: z.string().max(254) })

/** better-auth below `/v1/auth`, with our errors. */
export function authRoutes(app: FastifyInstance, deps: Deps, auth: Auth): void {
  const failures = new FailureLimit(FAILURES_PER_ACCOUNT, FAILURE_WINDOW_MS)
  app.route({
    method: ['GET', 'POST'],
    url: '/v1/auth/*',
    config: { rateLimit: { max: 60, timeWindow: '1 minute' } },
    handler: async (request, reply) => {
      const path = request.url.slice('/v1/auth'.length).replace(/\?.*$/, '')
      const name = `${request.method} ${path}`
      if (!OPEN.has(name)) throw new DomainError('NOT_FOUND')
      const { headers } = credentialsOf(request)
      if (request.method !== 'GET') refuseOtherSites(headers, ownOriginsOf(deps.config.publicUrl))
      const email = name === SIGN_IN ? emailOf(request) : null
      const waitMs = email === null ? 0 : failures.waitMs(email, deps.clock.nowMs())
      if (waitMs > 0) {
        reply.header('retry-after', String(Math.ceil(waitMs / 1000)))
        throw new DomainError('RATE_LIMITED')
      }
      const answer = await auth.handler(toWebRequest(request, headers, deps.config.publicUrl))
      const text = await answer.text()
      if (email !== null) {
        if (!answer.ok) failures.add(email, deps.clock.nowMs())
        await recordSignIn(deps, email, answer.ok, request.id)
      }
      if (!answer.ok) throw toError(name, answer.status)
      for (const cookie of answer.headers.getSetCookie()) reply.header('set-cookie', cookie)
      // The session's token is the cookie's matter alone: pages cannot read it there, nor here.
      return reply.code(answer.status).type('application/json').send(withoutToken(text))
    },
  })
}

function toError(name: string, status: number): DomainError {
  if (name === SIGN_IN && (status === 401 || status === 400)) return new DomainError('SIGN_IN_FAILED')
  if (status === 401) return new DomainError('UNAUTHENTICATED')
  if (status === 403) return new DomainError('CROSS_ORIGIN')
  if (status === 404) return new DomainError('NOT_FOUND')
  if (status < 500) return new DomainError('VALIDATION_FAILED')
  return new DomainError('INTERNAL', {}, { cause: new Error(`better-auth answered ${status} to ${name}`) })
}

function emailOf(request: FastifyRequest): string {
  try {
    return signInSchema
      .parse(JSON.parse(String(request.body)))
      .email.trim()
      .toLowerCase()
  } catch {
    throw new DomainError('VALIDATION_FAILED')
  }
}

function toWebRequest(request: FastifyRequest, headers: Headers, publicUrl: string): Request {
  headers.delete('content-length')
  headers.delete('transfer-encoding')
  headers.delete('connection')
  const body =
    request.body instanceof Uint8Array && request.body.length > 0
      ? Buffer.from(request.body).toString('utf8')
      : null
  return new Request(new URL(request.url, publicUrl), { method: request.method, headers, body })
}

function withoutToken(text: string): string {
  if (text === '') return '{}'
  return JSON.stringify(JSON.parse(text, (key, value: unknown) => (key === 'token' ? undefined : value)))
}
