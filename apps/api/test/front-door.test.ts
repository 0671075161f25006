import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#app.ts'
import { loggerOptions } from '#log.ts'
import { renewSetupCode } from '#modules/accounts/index.ts'
import { call } from './set-up/call.ts'
import { cookieOf, ORIGIN, PASSWORD, Stack } from './set-up/stack.ts'

let web: Server
let stack: Stack

beforeAll(async () => {
  web = createServer((request, response) => {
    response.setHeader('content-security-policy', "default-src 'self'")
    response.end(`web ${request.method} ${request.url}`)
  }).listen(0, '127.0.0.1')
  await once(web, 'listening')
  stack = await Stack.start({ webOrigin: `http://127.0.0.1:${(web.address() as AddressInfo).port}` })
})
afterAll(async () => {
  await stack.stop()
  web.close()
})

describe('one port', () => {
  test.each(['/', '/turns/t_1?x=1', '/_next/static/a.js', '/v1x'])(
    '%s is the web’s, with its own policy',
    async (url) => {
      const answer = await call(stack.app, 'GET', url)
      expect(answer.text).toBe(`web GET ${url}`)
      expect(answer.headers['content-security-policy']).toBe("default-src 'self'")
    },
  )

  test.each(['/v1/nothing', '/v1/turns', '/v1/me', '/healthz', '/readyz', '/openapi.json'])(
    '%s is the API’s',
    async (url) => {
      const answer = await call(stack.app, 'GET', url)
      expect(answer.headers['content-type']).toContain('json')
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
    },
  )

  test('/docs shows the contract and asks nobody else for anything', async () => {
    const page = await call(stack.app, 'GET', '/docs/')
    expect(page.text).toContain('createApiReference')
    expect(page.text).not.toMatch(/(src|href)="https?:/)
    expect(page.headers['content-security-policy']).toContain("connect-src 'self'")
    expect((await call(stack.app, 'GET', '/docs/js/scalar.js')).status).toBe(200)
  })
})

test('without its web server a page is a problem, not a crash', async () => {
  const alone = await Stack.start()
  expect(await call(alone.app, 'GET', '/')).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
  await alone.stop()
})

test('not ready is said when the database is gone', async () => {
  const gone = await Stack.start()
  await gone.database.sql`drop table turns`
  const answer = await call(gone.app, 'GET', '/readyz')
  expect(answer).toMatchObject({
    status: 503,
    json: { code: 'STORAGE_UNAVAILABLE', details: { down: ['database'] } },
  })
  await gone.stop()
})

test('the log holds no password, code, cookie or prompt, also when something breaks', async () => {
  const own = await Stack.start()
  let log = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += String(chunk)
      done()
    },
  })
  const options = loggerOptions('debug')
  if (typeof options !== 'object') throw new Error('no options')
  const app = await buildApp(own.deps, { logger: { ...options, stream } })
  const code = await renewSetupCode(own.deps)
  const given = { name: 'Ada', email: 'ada@example.test', password: PASSWORD }
  await call(app, 'POST', '/v1/setup', { body: { ...given, code } })
  const signedIn = await call(app, 'POST', '/v1/auth/sign-in/email', {
    body: given,
    headers: { origin: ORIGIN },
  })
  const cookie = cookieOf(signedIn)
  await own.database.sql`drop table project_members`
  const broken = await call(app, 'GET', '/v1/projects/p_00000000000000000000000000', { headers: { cookie } })
  expect(broken).toMatchObject({ status: 500, json: { code: 'INTERNAL' } })
  expect(broken.text).not.toMatch(/project_members|select/)
  // The log is there and tells what happened.
  expect(log).toContain('POST /v1/setup 201')
  expect(log).toContain('a query failed')
  for (const secret of [
    PASSWORD,
    code ?? '',
    cookie,
    decodeURIComponent(cookie.split('=')[1] ?? ''),
    'ada@example.test',
  ])
    expect(log).not.toContain(secret)
  await app.close()
  await own.stop()
})
