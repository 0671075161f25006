import type { WorkspaceId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { answerOnce } from '#http/idempotency.ts'
import { createAnswerKeeper, forgetOldAnswers } from '#modules/idempotency/index.ts'
import { type Answer, expectProblem } from './set-up/call.ts'
import { newId, TestLog, type TestMachine } from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let bob: TestPerson
let machine: TestMachine
let workspace: WorkspaceId
let turn: string

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
  bob = await stack.person('Bob')
  machine = await stack.machine(ada)
  workspace = await machine.workspace()
  turn = (await new TestLog(machine, workspace).push()).manifest.turn
})
afterAll(() => stack.stop())
afterEach(() => {
  stack.clock.offsetMs = 0
})

let keys = 0
const newKey = () => `key-${++keys}`
const post = (url: string, key: string, body?: unknown, who = ada) =>
  who.call('POST', url, { ...(body === undefined ? {} : { body }), headers: { 'idempotency-key': key } })
const countOf = async (name: string) =>
  Number((await stack.database.sql`select count(*) from projects where name = ${name}`)[0]?.count)
const said = (answer: Answer) => ({ status: answer.status, text: answer.text })

test('a repeat is answered the same, and nothing is made again', async () => {
  const key = newKey()
  const first = await post('/v1/projects', key, { name: 'Once' })
  const again = await post('/v1/projects', key, { name: 'Once' })
  expect(first.status).toBe(201)
  expect(said(again)).toEqual(said(first))
  expect([first, again].map((answer) => answer.headers['idempotency-replayed'])).toEqual([undefined, 'true'])
  expect(await countOf('Once')).toBe(1)
  // The control: without the key it is a new one each time.
  for (let n = 0; n < 2; n++) await ada.call('POST', '/v1/projects', { body: { name: 'Twice' } })
  expect(await countOf('Twice')).toBe(2)
})

test('ten at once make one row and get one answer', async () => {
  const key = newKey()
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => post('/v1/projects', key, { name: 'Ten' })),
  )
  expect(new Set(answers.map((answer) => JSON.stringify(said(answer)))).size).toBe(1)
  expect(answers[0]?.status).toBe(201)
  expect(await countOf('Ten')).toBe(1)
})

test('the same key with another request is refused, also at another address', async () => {
  const key = newKey()
  await post('/v1/projects', key, { name: 'One' })
  expectProblem(await post('/v1/projects', key, { name: 'Two' }), 409, 'IDEMPOTENCY_MISMATCH')
  expectProblem(await post('/v1/machines/enrollments', key, {}), 409, 'IDEMPOTENCY_MISMATCH')
  expect(await countOf('Two')).toBe(0)
})

test('keys are each person’s own', async () => {
  const key = newKey()
  const hers = await post('/v1/projects', key, { name: 'Hers' })
  const his = await post('/v1/projects', key, { name: 'His' }, bob)
  expect(his.status).toBe(201)
  expect(his.json.id).not.toBe(hers.json.id)
})

test('an enrolment code is answered again and stands nowhere in the database', async () => {
  const key = newKey()
  const first = await post('/v1/machines/enrollments', key, {})
  expect(said(await post('/v1/machines/enrollments', key, {}))).toEqual(said(first))
  const rows = await stack.database.sql`select encode(answer, 'escape') as answer, * from idempotency_keys`
  expect(rows.some((row) => row.answer !== null)).toBe(true)
  const text = rows.map((row) => `${row.answer} ${Buffer.from(row.id)} ${row.request_id}`).join('\n')
  expect(text).not.toContain(first.json.code)
  expect(text).not.toContain(key)
})

test('a restore is asked for, cancelled and refused once', async () => {
  const body = { workspace, turn, mode: 'preview' }
  const key = newKey()
  const made = await Promise.all([post('/v1/restores', key, body), post('/v1/restores', key, body)])
  expect(made[0]?.status).toBe(202)
  expect(made[1]?.json).toEqual(made[0]?.json)
  expect(await stack.database.sql`select id from restores`).toHaveLength(1)
  const restore = made[0]?.json.id
  const confirmKey = newKey()
  const refused = await post(`/v1/restores/${restore}/confirm`, confirmKey, { token: 'x' })
  expectProblem(refused, 409, 'RESTORE_STATE_INVALID')
  expect(said(await post(`/v1/restores/${restore}/confirm`, confirmKey, { token: 'x' }))).toEqual(
    said(refused),
  )
  const cancelKey = newKey()
  const cancelled = await post(`/v1/restores/${restore}/cancel`, cancelKey)
  expect(cancelled.json.status).toBe('cancelled')
  expect(said(await post(`/v1/restores/${restore}/cancel`, cancelKey))).toEqual(said(cancelled))
  expectProblem(await post(`/v1/restores/${newId('r')}/cancel`, cancelKey), 409, 'IDEMPOTENCY_MISMATCH')
  expectProblem(await post(`/v1/restores/${restore}/undo`, newKey()), 409, 'RESTORE_STATE_INVALID')
})

test('keys are forgotten after a day', async () => {
  const key = newKey()
  const first = await post('/v1/projects', key, { name: 'Aged' })
  stack.clock.offsetMs = 23 * 3_600_000
  const person = await stack.person('Ada')
  expect(said(await post('/v1/projects', key, { name: 'Aged' }, person))).toEqual(said(first))
  stack.clock.offsetMs = 25 * 3_600_000
  expect((await post('/v1/projects', key, { name: 'Aged anew' }, person)).status).toBe(201)
  stack.clock.offsetMs = 50 * 3_600_000
  await forgetOldAnswers(stack.deps)
  expect(await stack.database.sql`select id from idempotency_keys`).toHaveLength(0)
})

test('a key that is none is refused; routes that take none do not look at it', async () => {
  expectProblem(await post('/v1/projects', 'with space', { name: 'x' }), 400, 'VALIDATION_FAILED')
  expectProblem(await post('/v1/projects', 'x'.repeat(256), { name: 'x' }), 400, 'VALIDATION_FAILED')
  const named = Object.entries(routes).filter(([, route]) => 'takesIdempotencyKey' in route)
  expect(named.map(([name]) => name).sort()).toEqual([
    'cancelRestore',
    'confirmRestore',
    'createEnrollment',
    'createProject',
    'createRestore',
    'undoRestore',
  ])
})

test('strangers and other sites get nothing from a key', async () => {
  const key = newKey()
  await post('/v1/projects', key, { name: 'Mine' })
  const body = { name: 'Mine' }
  const headers = { 'idempotency-key': key }
  const without = { headers: { ...headers, cookie: '' }, body }
  expectProblem(await ada.call('POST', '/v1/projects', without), 401, 'UNAUTHENTICATED')
  const elsewhere = { headers: { ...headers, origin: 'https://evil.test' }, body }
  expectProblem(await ada.call('POST', '/v1/projects', elsewhere), 403, 'CROSS_ORIGIN')
})

test('a failure of ours is tried again; a try that died is taken over unless it had done it', async () => {
  const keeper = createAnswerKeeper(stack.deps)
  const answer = { status: 201, contentType: 'text/plain', headers: {}, body: 'done' }
  const asked = (key: string, requestId: string) => ({ actor: 'person:x', key, request: 'r', requestId })
  const options = {
    signal: AbortSignal.abort(),
    onReplay: () => undefined,
    onPending: () => undefined,
    onUnkept: () => undefined,
  }
  const failing = newKey()
  const fail = async () => {
    throw new Error('the cable is out')
  }
  await expect(answerOnce(keeper, asked(failing, 'f1'), fail, options)).rejects.toThrow('cable')
  expect(await answerOnce(keeper, asked(failing, 'f2'), async () => answer, options)).toEqual(answer)

  const dying = newKey()
  expect(await keeper.claim(asked(dying, 'd1'))).toEqual({ is: 'mine' })
  await expect(answerOnce(keeper, asked(dying, 'd2'), fail, options)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_PENDING',
  })
  stack.clock.offsetMs = 61_000
  const claims = await Promise.all(['d3', 'd4'].map((id) => keeper.claim(asked(dying, id))))
  expect(claims.map((claim) => claim.is).sort()).toEqual(['mine', 'pending'])

  const done = newKey()
  expect(await keeper.claim(asked(done, 'had-done-it'))).toEqual({ is: 'mine' })
  await stack.database.sql`insert into audit_events (actor_kind, action, objects, facts, request_id)
    values ('person', 'project.made', '{}', '{}', 'had-done-it')`
  await keeper.abandon(asked(done, 'had-done-it'))
  await expect(answerOnce(keeper, asked(done, 'next'), async () => answer, options)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_UNANSWERED',
  })
})
