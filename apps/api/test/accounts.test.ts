import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeLoginCode, renewSetupCode } from '#modules/accounts/index.ts'
import { call, expectProblem } from './set-up/call.ts'
import { cookieOf, ORIGIN, PASSWORD, Stack, TestPerson } from './set-up/stack.ts'

let stack: Stack

beforeAll(async () => {
  stack = await Stack.start()
})
afterAll(() => stack.stop())

const signIn = (email: string, password: string, headers: Record<string, string> = {}) =>
  call(stack.app, 'POST', '/v1/auth/sign-in/email', {
    body: { email, password },
    headers: { origin: ORIGIN, ...headers },
  })

const events = async (action: string) =>
  await stack.database
    .sql`select actor_kind, actor_id, objects, facts from audit_events where action = ${action} order by id`

describe('the first administrator', () => {
  const given = { name: 'Ada', email: 'Ada@Example.test', password: PASSWORD }

  test('is made once, by the code that was printed last', async () => {
    const old = await renewSetupCode(stack.deps)
    const code = await renewSetupCode(stack.deps)
    const attempt = (with_: string | null) =>
      call(stack.app, 'POST', '/v1/setup', { body: { ...given, code: with_ } })
    expectProblem(await attempt('x'.repeat(43)), 403, 'SETUP_CODE_INVALID')
    expectProblem(await attempt(old), 403, 'SETUP_CODE_INVALID')
    const answers = await Promise.all([attempt(code), attempt(code)])
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 403])
    const made = answers.find((answer) => answer.status === 201)
    expect(made?.json.person).toMatchObject({ name: 'Ada', email: 'ada@example.test', isAdmin: true })
    expect(await renewSetupCode(stack.deps)).toBeNull()
    expect(await events('setup.done')).toMatchObject([
      { actor_kind: 'person', actor_id: made?.json.person.id },
    ])
  })

  test('codes grow old, and only their hash is kept', async () => {
    const other = await Stack.start()
    const code = await renewSetupCode(other.deps)
    const rows = await other.database.sql`select encode(hash, 'escape') as hash, * from one_time_codes`
    expect(JSON.stringify(rows)).not.toContain(code)
    other.clock.offsetMs = 25 * 3_600_000
    expectProblem(
      await call(other.app, 'POST', '/v1/setup', { body: { ...given, code } }),
      403,
      'SETUP_CODE_INVALID',
    )
    other.clock.offsetMs = 0
    expect((await call(other.app, 'POST', '/v1/setup', { body: { ...given, code } })).status).toBe(201)
    await other.stop()
  })

  test('a field that is wrong is named, its value is not repeated', async () => {
    const body = { ...given, code: 'c'.repeat(30), password: 'short' }
    const answer = await call(stack.app, 'POST', '/v1/setup', { body })
    expectProblem(answer, 400, 'VALIDATION_FAILED')
    expect(answer.json.details.fields).toMatchObject([{ path: 'password' }])
    expect(answer.text).not.toContain('short')
    expectProblem(await call(stack.app, 'POST', '/v1/setup', { body: 'no object' }), 400, 'VALIDATION_FAILED')
  })
})

describe('signing in', () => {
  test('gives a cookie that pages cannot read, and never the token itself', async () => {
    const answer = await signIn('ADA@example.test', PASSWORD)
    expect(answer.status).toBe(200)
    expect(String(answer.headers['set-cookie'])).toMatch(/HttpOnly/)
    expect(String(answer.headers['set-cookie'])).toMatch(/SameSite=Lax/)
    const token = decodeURIComponent(cookieOf(answer).split('=')[1] ?? '').split('.')[0] ?? ''
    expect(token.length).toBeGreaterThan(20)
    expect(answer.text).not.toContain(token)
    const me = await call(stack.app, 'GET', '/v1/me', { headers: { cookie: cookieOf(answer) } })
    expect(me.json).toMatchObject({ person: { email: 'ada@example.test', isAdmin: true }, projects: [] })
  })

  test('a wrong password and an unknown address look the same', async () => {
    const wrong = await signIn('ada@example.test', 'wrong password')
    const unknown = await signIn('nobody@example.test', 'wrong password')
    expectProblem(wrong, 401, 'SIGN_IN_FAILED')
    expect({ ...wrong.json, instance: '' }).toEqual({ ...unknown.json, instance: '' })
    expect(wrong.headers['set-cookie']).toBeUndefined()
    const failed = await events('sign-in.failed')
    expect(failed).toHaveLength(2)
    expect(JSON.stringify(failed)).not.toContain('nobody')
  })

  test('five failures for an account are enough for a while, also with the right password then', async () => {
    await stack.person('Bob')
    for (let n = 0; n < 5; n++)
      expectProblem(await signIn('bob@example.test', `wrong ${n}`), 401, 'SIGN_IN_FAILED')
    const limited = await signIn('bob@example.test', PASSWORD)
    expectProblem(limited, 429, 'RATE_LIMITED')
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(600)
    expect((await signIn('ada@example.test', PASSWORD)).status).toBe(200)
    stack.clock.offsetMs = 16 * 60_000
    expect((await signIn('bob@example.test', PASSWORD)).status).toBe(200)
    stack.clock.offsetMs = 0
  })

  test('sign-up and all else of better-auth is closed', async () => {
    const body = { name: 'Eve', email: 'eve@example.test', password: PASSWORD }
    const headers = { origin: ORIGIN }
    expectProblem(
      await call(stack.app, 'POST', '/v1/auth/sign-up/email', { body, headers }),
      404,
      'NOT_FOUND',
    )
    expectProblem(
      await call(stack.app, 'POST', '/v1/auth/update-user', { body: { isAdmin: true }, headers }),
      404,
      'NOT_FOUND',
    )
    expectProblem(await call(stack.app, 'GET', '/v1/auth/ok', { headers }), 404, 'NOT_FOUND')
  })

  test('signing out ends the session', async () => {
    const ada = new TestPerson(
      stack.app,
      { id: '', name: '', email: '', isAdmin: true },
      cookieOf(await signIn('ada@example.test', PASSWORD)),
    )
    expect((await ada.call('GET', '/v1/me')).status).toBe(200)
    expect((await ada.call('POST', '/v1/auth/sign-out', { body: {} })).status).toBe(200)
    expectProblem(await ada.call('GET', '/v1/me'), 401, 'UNAUTHENTICATED')
  })

  test('a forged cookie is nobody’s', async () => {
    const cookie = cookieOf(await signIn('ada@example.test', PASSWORD))
    const forged = `${cookie.slice(0, -6)}AAAA%3D`
    expectProblem(
      await call(stack.app, 'GET', '/v1/me', { headers: { cookie: forged } }),
      401,
      'UNAUTHENTICATED',
    )
    expectProblem(await call(stack.app, 'GET', '/v1/me'), 401, 'UNAUTHENTICATED')
  })
})

test('tries from one address are limited', async () => {
  const attempt = () =>
    call(stack.app, 'POST', '/v1/login-link', { body: { code: 'x'.repeat(43) }, ip: '192.0.2.7' })
  for (let n = 0; n < 10; n++) expectProblem(await attempt(), 401, 'SIGN_IN_FAILED')
  const limited = await attempt()
  expectProblem(limited, 429, 'RATE_LIMITED')
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
})

describe('a login link', () => {
  test('signs in once', async () => {
    const dora = await stack.person('Dora')
    const code = await makeLoginCode(stack.deps, dora.person.id)
    const use = () => call(stack.app, 'POST', '/v1/login-link', { body: { code } })
    const answers = await Promise.all([use(), use()])
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 401])
    expectProblem(await use(), 401, 'SIGN_IN_FAILED')
    const done = answers.find((answer) => answer.status === 200)
    if (done === undefined) throw new Error('unreachable')
    const me = await call(stack.app, 'GET', '/v1/me', { headers: { cookie: cookieOf(done) } })
    expect(me.json.person.email).toBe('dora@example.test')
  })

  test('is good for ten minutes', async () => {
    const dora = await stack.person('Dora')
    const code = await makeLoginCode(stack.deps, dora.person.id)
    stack.clock.offsetMs = 11 * 60_000
    expectProblem(await call(stack.app, 'POST', '/v1/login-link', { body: { code } }), 401, 'SIGN_IN_FAILED')
    stack.clock.offsetMs = 0
  })
})

describe('writes that another site’s page sends', () => {
  const name = { name: 'x' }
  test.each<[string, Record<string, string>]>([
    ['another origin', { origin: 'https://evil.test' }],
    ['an opaque origin', { origin: 'null' }],
    ['a sub-domain', { origin: ORIGIN, 'sec-fetch-site': 'same-site' }],
    ['another site', { origin: ORIGIN, 'sec-fetch-site': 'cross-site' }],
  ])('are refused: %s', async (_what, headers) => {
    const ada = await stack.person('Ada')
    expectProblem(await ada.call('POST', '/v1/projects', { body: name, headers }), 403, 'CROSS_ORIGIN')
    expectProblem(await signIn('ada@example.test', PASSWORD, headers), 403, 'CROSS_ORIGIN')
  })

  test.each(['cross-site', 'same-site'])('are refused without an origin too: %s', async (site) => {
    const ada = await stack.person('Ada')
    const headers = { cookie: ada.cookie, 'sec-fetch-site': site }
    const made = async () =>
      Number((await stack.database.sql`select count(*) from projects where name = 'sneaked'`)[0]?.count)
    const write = (how: Record<string, string>) =>
      call(stack.app, 'POST', '/v1/projects', { body: { name: 'sneaked' }, headers: how })
    expectProblem(await write(headers), 403, 'CROSS_ORIGIN')
    expect(await made()).toBe(0)
    // The control: the same cookie is good when the page is ours.
    expect((await write({ ...headers, 'sec-fetch-site': 'same-origin' })).status).toBe(201)
    await stack.database
      .sql`delete from project_members where project_id in (select id from projects where name = 'sneaked')`
    await stack.database.sql`delete from projects where name = 'sneaked'`
  })

  test('and our own pages’ are not', async () => {
    const ada = await stack.person('Ada')
    const same = { 'sec-fetch-site': 'same-origin' }
    expect((await ada.call('POST', '/v1/projects', { body: name, headers: same })).status).toBe(201)
    const local = { origin: 'http://localhost:4600' }
    expect((await ada.call('POST', '/v1/projects', { body: name, headers: local })).status).toBe(201)
  })
})
