import { z } from 'zod'
import { projectIdSchema } from '#ids.ts'
import { nameSchema, timeSchema } from './common.ts'
import { defineRoute } from './route.ts'

export const roleSchema = z.enum(['viewer', 'member', 'lead', 'admin'])

export const personSchema = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  isAdmin: z.boolean(),
})
export type Person = z.infer<typeof personSchema>

/** Uses up the one-time link that the first start prints, and makes the first administrator. */
export const setUp = defineRoute({
  method: 'POST',
  path: '/v1/setup',
  summary: 'Make the first administrator with the printed one-time code',
  access: { kind: 'public' },
  body: z.strictObject({
    code: z.string().min(20).max(100),
    name: nameSchema,
    email: z.email().max(254),
    password: z.string().min(10).max(128),
  }),
  response: z.object({ person: personSchema }),
  status: 201,
  errors: ['SETUP_CODE_INVALID', 'VALIDATION_FAILED', 'RATE_LIMITED'],
})

/** A printed link that signs its reader in: short-lived, good once, made only by whoever runs the service. */
export const signInByLink = defineRoute({
  method: 'POST',
  path: '/v1/login-link',
  summary: 'Sign in with a one-time link',
  access: { kind: 'public' },
  body: z.strictObject({ code: z.string().min(20).max(100) }),
  response: z.object({ person: personSchema }),
  errors: ['SIGN_IN_FAILED', 'VALIDATION_FAILED', 'RATE_LIMITED'],
})

/** Sign-in and sign-out themselves are better-auth's routes below `/v1/auth`. */
export const getMe = defineRoute({
  method: 'GET',
  path: '/v1/me',
  summary: 'Who is signed in, and the projects they belong to',
  access: { kind: 'person' },
  response: z.object({
    person: personSchema,
    signedInAt: timeSchema,
    projects: z.array(z.object({ id: projectIdSchema, name: z.string(), role: roleSchema })),
  }),
  errors: ['UNAUTHENTICATED'],
})
