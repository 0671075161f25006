import { join } from 'node:path'
import { request } from '@playwright/test'
import { routes } from '@turnback/core/api'
import { expect, test } from '#support/fixtures.ts'
import { call } from '#support/rest.ts'
import { admin, SET_UP_LINK, startService } from '#support/stack.ts'

test('a second start finds the data again, and prints no set-up link any more', async ({ stack }) => {
  const dataDir = join(stack.scratch, 'second-service')
  const first = await startService(dataDir)
  let rest = await request.newContext({ baseURL: first.url, extraHTTPHeaders: { origin: first.url } })
  // The usual port is taken by the service of this run: the next one was found.
  expect(first.url).not.toBe(stack.url)
  const code = new URL(SET_UP_LINK.exec(first.said)?.[0] ?? '').hash.slice(1)
  await call(rest, routes.setUp, { body: { code, ...admin } })
  await rest.dispose()
  await first.stop()

  const second = await startService(dataDir)
  expect(second.said).not.toMatch(SET_UP_LINK)
  rest = await request.newContext({ baseURL: second.url, extraHTTPHeaders: { origin: second.url } })
  const { email, password } = admin
  const answer = await rest.post('/v1/auth/sign-in/email', { data: { email, password } })
  expect(answer.status()).toBe(200)
  const me = await call(rest, routes.getMe, {})
  expect(me.person).toMatchObject({ email, isAdmin: true })
  await rest.dispose()
  await second.stop()
})
