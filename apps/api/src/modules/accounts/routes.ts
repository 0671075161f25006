import { routes } from '@turnback/core/api'
import type { Deps } from '#deps.ts'
import type { Implement } from '#http/implement.ts'
import type { Auth } from './auth.ts'
import { listPersonsProjects } from './membership-service.ts'
import { setUpFirstPerson, signInWithCode } from './service.ts'

const SLOW = { rateLimit: { max: 10, timeWindow: '1 minute' } }

export function accountRoutes(implement: Implement, deps: Deps, auth: Auth): void {
  implement(
    routes.setUp,
    async ({ body, requestId }) => ({ person: await setUpFirstPerson(deps, body, requestId) }),
    SLOW,
  )

  implement(
    routes.signInByLink,
    async ({ body, requestId, setHeader }) => {
      const { person, cookie } = await signInWithCode(deps, auth, body.code, requestId)
      setHeader('set-cookie', cookie)
      return { person }
    },
    SLOW,
  )

  implement(routes.getMe, async ({ actor }) => ({
    person: { id: actor.id, name: actor.name, email: actor.email, isAdmin: actor.isAdmin },
    signedInAt: actor.signedInAt.toISOString(),
    projects: await listPersonsProjects(deps, actor.id),
  }))
}
