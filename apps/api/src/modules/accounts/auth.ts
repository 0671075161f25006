import { betterAuth } from 'better-auth'
import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { makeSignature } from 'better-auth/crypto'
import type { Db } from '#db/client.ts'
import { credentials, sessions, users, verifications } from '#db/schema/accounts.ts'
import { ownOriginsOf } from '#http/origin.ts'
import { hashPassword, verifyPassword } from './password.ts'

/** A session is good for half a day, used or not (docs/threat-model.md). */
const SESSION_SECONDS = 12 * 3600

/** better-auth with e-mail and password, sign-up closed: people are made by us. */
export function createAuth(options: {
  readonly db: Db
  readonly publicUrl: string
  readonly secret: string
}) {
  const isHttps = options.publicUrl.startsWith('https:')
  return betterAuth({
    appName: 'Turnback',
    baseURL: options.publicUrl,
    basePath: '/v1/auth',
    secret: options.secret,
    trustedOrigins: [...ownOriginsOf(options.publicUrl)],
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Our own limits stand before it (routes.ts).
    rateLimit: { enabled: false },
    database: drizzleAdapter(options.db, {
      provider: 'pg',
      schema: { user: users, session: sessions, account: credentials, verification: verifications },
    }),
    user: { additionalFields: { isAdmin: { type: 'boolean', input: false, required: false } } },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: 10,
      maxPasswordLength: 128,
      password: { hash: hashPassword, verify: ({ hash, password }) => verifyPassword(hash, password) },
    },
    session: { expiresIn: SESSION_SECONDS, disableSessionRefresh: true },
    advanced: {
      useSecureCookies: false,
      cookiePrefix: 'turnback',
      // `__Host-` only works over HTTPS; on a plain loopback address it would be dropped by some browsers.
      cookies: { session_token: { name: isHttps ? '__Host-turnback_session' : 'turnback_session' } },
      defaultCookieAttributes: { secure: isHttps, httpOnly: true, sameSite: 'lax', path: '/' },
    },
  })
}

export type Auth = ReturnType<typeof createAuth>

/** Begins a session for a person who has shown who they are in another way; gives the cookie to set. */
export async function beginSession(auth: Auth, userId: string): Promise<string> {
  const context = await auth.$context
  const session = await context.internalAdapter.createSession(userId)
  const signature = await makeSignature(session.token, context.secret)
  const { name, attributes } = context.authCookies.sessionToken
  const parts = [
    `${name}=${encodeURIComponent(`${session.token}.${signature}`)}`,
    `Path=${attributes.path}`,
    `Max-Age=${SESSION_SECONDS}`,
    'HttpOnly',
    'SameSite=Lax',
  ]
  return (attributes.secure ? [...parts, 'Secure'] : parts).join('; ')
}
