import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forgetOldNonces } from '#modules/machines/index.ts'
import { call, expectProblem } from './set-up/call.ts'
import { newId, TestMachine } from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
})
afterAll(() => stack.stop())

const newCode = async (): Promise<string> =>
  (await ada.call('POST', '/v1/machines/enrollments', { body: {} })).json.code

describe('enrolment', () => {
  test('shows a command with the code in the fragment, and makes the machine the person’s', async () => {
    const made = await ada.call('POST', '/v1/machines/enrollments', { body: {} })
    expect(made.json.command).toBe(`turnback login 'http://127.0.0.1:4600/#${made.json.code}'`)
    const machine = new TestMachine(stack.app, stack.clock, 'laptop')
    const answer = await machine.enroll(made.json.code)
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({
      machine: machine.id,
      owner: { email: 'ada@example.test' },
      defaultProject: { name: 'Default' },
    })
    const listed = await ada.call('GET', '/v1/machines')
    expect(listed.json.items.find((one: { id: string }) => one.id === machine.id)).toMatchObject({
      name: 'laptop',
      isMine: true,
      online: false,
      fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    const rows = await stack.database.sql`select encode(hash, 'escape') as hash, id from enrollments`
    expect(JSON.stringify(rows)).not.toContain(made.json.code.split('.')[1])
  })

  test('a code is good for one machine', async () => {
    const code = await newCode()
    expect((await new TestMachine(stack.app, stack.clock, 'a').enroll(code)).status).toBe(201)
    expectProblem(
      await new TestMachine(stack.app, stack.clock, 'b').enroll(code),
      403,
      'ENROLLMENT_CODE_INVALID',
    )
  })

  test('a code is good for ten minutes', async () => {
    const code = await newCode()
    stack.clock.offsetMs = 601_000
    expectProblem(
      await new TestMachine(stack.app, stack.clock, 'a').enroll(code),
      403,
      'ENROLLMENT_CODE_INVALID',
    )
    stack.clock.offsetMs = 0
    expect((await new TestMachine(stack.app, stack.clock, 'a').enroll(code)).status).toBe(201)
  })

  test('five wrong tries end it, for the right secret too', async () => {
    const code = await newCode()
    const machine = new TestMachine(stack.app, stack.clock, 'a')
    const wrong = `${code.split('.')[0]}.${randomBytes(16).toString('base64url')}`
    for (let n = 0; n < 5; n++) expectProblem(await machine.enroll(wrong), 403, 'ENROLLMENT_CODE_INVALID')
    expectProblem(await machine.enroll(code), 403, 'ENROLLMENT_CODE_INVALID')
  })

  test('whoever cannot sign with the key is refused, and so is who names another’s id', async () => {
    const machine = new TestMachine(stack.app, stack.clock, 'a')
    const other = new TestMachine(stack.app, stack.clock, 'b')
    const code = await newCode()
    const body = { ...machine.enrollBody(code), publicKey: other.publicKey }
    expectProblem(await call(stack.app, 'POST', '/v1/machines/enroll', { body }), 401, 'SIGNATURE_INVALID')
    expect((await machine.enroll(code)).status).toBe(201)
    const second = await newCode()
    const named = { ...other.enrollBody(second), machine: machine.id }
    named.proof = other.sign(`turnback/enroll/v1\n${second}\n${machine.id}\n${named.recipient}`)
    expectProblem(
      await call(stack.app, 'POST', '/v1/machines/enroll', { body: named }),
      401,
      'SIGNATURE_INVALID',
    )
  })

  test('goes into the project that was named, if it is one of the person’s', async () => {
    const project = (await ada.call('POST', '/v1/projects', { body: { name: 'Web' } })).json.id
    const made = await ada.call('POST', '/v1/machines/enrollments', { body: { project } })
    const answer = await new TestMachine(stack.app, stack.clock, 'a').enroll(made.json.code)
    expect(answer.json.defaultProject).toEqual({ id: project, name: 'Web' })
    const bob = await stack.person('Bob')
    expectProblem(
      await bob.call('POST', '/v1/machines/enrollments', { body: { project } }),
      404,
      'PROJECT_NOT_FOUND',
    )
  })
})

describe('a signed request', () => {
  const url = '/v1/machines/self/commands'
  const send = (authorization: string, to = url) => call(stack.app, 'GET', to, { headers: { authorization } })

  test('is taken once: the same again is refused', async () => {
    const machine = await stack.machine(ada)
    const header = machine.authorization('GET', url, Buffer.alloc(0))
    expect((await send(header)).status).toBe(200)
    expectProblem(await send(header), 401, 'SIGNATURE_INVALID')
    await forgetOldNonces(stack.deps)
    expectProblem(await send(header), 401, 'SIGNATURE_INVALID')
  })

  test.each([-301_000, 301_000])(
    'is refused when its clock is off by %d ms, with the server’s time',
    async (off) => {
      const machine = await stack.machine(ada)
      const answer = await send(machine.authorization('GET', url, Buffer.alloc(0), { ts: Date.now() + off }))
      expectProblem(answer, 401, 'SIGNATURE_INVALID')
      expect(Date.parse(answer.json.details.serverTime)).toBeGreaterThan(Date.now() - 60_000)
    },
  )

  test('is good for this very path, query, method and body only', async () => {
    const machine = await stack.machine(ada)
    const none = Buffer.alloc(0)
    expectProblem(
      await send(machine.authorization('GET', url, none), `${url}?waitSeconds=0`),
      401,
      'SIGNATURE_INVALID',
    )
    expectProblem(await send(machine.authorization('POST', url, none)), 401, 'SIGNATURE_INVALID')
    const id = newId('w')
    const body = { root: '/home/dev/x', name: 'x', project: null }
    const headers = { authorization: machine.authorization('PUT', `/v1/workspaces/${id}`, Buffer.from('{}')) }
    expectProblem(
      await machine.call('PUT', `/v1/workspaces/${id}`, { body, headers }),
      401,
      'SIGNATURE_INVALID',
    )
    expect((await machine.call('PUT', `/v1/workspaces/${id}`, { body })).status).toBe(200)
  })

  test('of a machine that nobody knows looks like none at all', async () => {
    const stranger = new TestMachine(stack.app, stack.clock, 'x')
    const unknown = await stranger.call('GET', url)
    const none = await call(stack.app, 'GET', url)
    expectProblem(unknown, 401, 'UNAUTHENTICATED')
    expect({ ...unknown.json, instance: '' }).toEqual({ ...none.json, instance: '' })
    const machine = await stack.machine(ada)
    const posing = stranger.authorization('GET', url, Buffer.alloc(0), { machine: machine.id })
    expectProblem(await send(posing), 401, 'SIGNATURE_INVALID')
    expectProblem(await send('Turnback-Machine nonsense'), 401, 'UNAUTHENTICATED')
  })

  test('a person’s cookie opens no machine’s route, nor the other way round', async () => {
    expectProblem(await ada.call('GET', url), 401, 'UNAUTHENTICATED')
    const machine = await stack.machine(ada)
    expectProblem(await machine.call('GET', '/v1/machines'), 401, 'UNAUTHENTICATED')
  })
})

describe('removing a machine', () => {
  test('ends what it may do, and enrolling it again with its key brings it back', async () => {
    const machine = await stack.machine(ada)
    const workspace = await machine.workspace()
    expect((await ada.call('DELETE', `/v1/machines/${machine.id}`)).status).toBe(204)
    expectProblem(await machine.call('GET', '/v1/machines/self/commands'), 403, 'MACHINE_REVOKED')
    expectProblem(await ada.call('DELETE', `/v1/machines/${machine.id}`), 404, 'MACHINE_NOT_FOUND')
    expect((await machine.enroll(await newCode())).status).toBe(201)
    expect(
      (await machine.call('POST', `/v1/workspaces/${workspace}/blobs/missing`, { body: { ids: [] } })).status,
    ).toBe(200)
    const rows = await stack.database
      .sql`select action from audit_events where objects->>'machine' = ${machine.id} order by id`
    expect(rows.map((row) => row.action)).toEqual(['machine.enrolled', 'machine.revoked', 'machine.enrolled'])
  })

  test('is its owner’s, or an administrator’s', async () => {
    const machine = await stack.machine(ada)
    const workspace = await machine.workspace()
    const bob = await stack.person('Bob')
    expectProblem(await bob.call('DELETE', `/v1/machines/${machine.id}`), 404, 'MACHINE_NOT_FOUND')
    const [row] = await stack.database.sql`select project_id from workspaces where id = ${workspace}`
    await stack.database
      .sql`insert into project_members values (${row?.project_id}, ${bob.person.id}, 'lead', now())`
    expectProblem(await bob.call('DELETE', `/v1/machines/${machine.id}`), 403, 'FORBIDDEN')
  })
})

describe('workspaces', () => {
  test('are known again, may be renamed, and belong to one machine', async () => {
    const machine = await stack.machine(ada)
    const id = await machine.workspace({ name: 'one', project: 'Shop' })
    const put = (by: TestMachine) =>
      by.call('PUT', `/v1/workspaces/${id}`, { body: { root: '/srv/two', name: 'two', project: 'Shop' } })
    const again = await put(machine)
    expect(again.json.project.name).toBe('Shop')
    expectProblem(await put(await stack.machine(ada)), 404, 'WORKSPACE_NOT_FOUND')
    const listed = await ada.call('GET', `/v1/projects/${again.json.project.id}/workspaces`)
    expect(listed.json.items).toMatchObject([
      { id, name: 'two', root: '/srv/two', machine: machine.id, turnCount: 0 },
    ])
    const projects = (await ada.call('GET', '/v1/projects')).json.items as { name: string }[]
    expect(projects.filter((project) => project.name === 'Shop')).toHaveLength(1)
  })
})
