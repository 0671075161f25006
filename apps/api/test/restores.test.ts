import type { Preview, RestoreId, RestoreReport, TurnId, WorkspaceId } from '@turnback/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expireRestores } from '#modules/restores/index.ts'
import { expectProblem } from './set-up/call.ts'
import { newId, TestLog, type TestMachine } from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let machine: TestMachine
let workspace: WorkspaceId
let turn: TurnId

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.clock.offsetMs = 0
  machine = await stack.machine(ada)
  workspace = await machine.workspace()
  turn = (await new TestLog(machine, workspace).push()).manifest.turn
})

const clean: Preview = {
  token: 'plan-token',
  restore: ['a.txt'],
  delete: [],
  merge: [],
  conflicts: [],
  skipped: [],
  unchanged: 0,
  undoes: [],
  alsoUndoes: [],
  irreversible: [],
  head: { then: null, now: null },
  sensitive: [],
  sealed: [],
}

async function request(mode: 'run' | 'preview' = 'run'): Promise<RestoreId> {
  const answer = await ada.call('POST', '/v1/restores', { body: { workspace, turn, mode } })
  expect(answer.status).toBe(202)
  expect(answer.json).toMatchObject({
    status: 'queued',
    turn,
    plan: null,
    report: null,
    machineName: 'laptop',
  })
  return answer.json.id
}

const planBody = (restore: RestoreId, part: object = {}) => ({
  restore,
  workspace,
  preview: clean,
  refusal: null,
  mayRunAtOnce: true,
  plannedAt: new Date().toISOString(),
  ...part,
})
const putPlan = (restore: RestoreId, part: object = {}) =>
  machine.putEnvelope(`/v1/restores/${restore}/plan`, machine.envelope('plan', planBody(restore, part)))

function reportOf(restore: RestoreId, part: Partial<RestoreReport> = {}): RestoreReport {
  const at = new Date(1_790_000_000_000).toISOString()
  return {
    format: 'turnback.restore/1',
    restore,
    turn: newId('t'),
    of: [turn],
    status: 'done',
    restored: ['a.txt'],
    deleted: [],
    merged: [],
    kept: [],
    failed: [],
    skipped: [],
    directories: { restored: [], deleted: [], kept: [] },
    alsoUndone: [],
    unchanged: 0,
    irreversible: [],
    verified: true,
    recovered: false,
    requestedBy: { kind: 'user', name: 'Ada' },
    startedAt: at,
    endedAt: at,
    ...part,
  }
}
const putReport = (restore: RestoreId, report: RestoreReport) =>
  machine.putEnvelope(
    `/v1/restores/${restore}/report`,
    machine.envelope('report', { restore, workspace, target: turn, report }),
  )

const commands = async (query = '') =>
  (await machine.call('GET', `/v1/machines/self/commands${query}`)).json.commands
const get = async (restore: RestoreId) => (await ada.call('GET', `/v1/restores/${restore}`)).json

describe('one tap', () => {
  test('a clean plan is carried out at once, and a second tap undoes it', async () => {
    const restore = await request()
    const [asked] = await commands()
    expect(asked).toMatchObject({
      type: 'plan.request',
      restore,
      request: { workspace, turn, scope: 'from-turn', onConflict: 'keep', mode: 'run' },
      requestedBy: { kind: 'user', name: 'Ada', isOwner: true },
    })
    expect((await putPlan(restore)).json).toEqual({ status: 'applying' })
    const [commit, ...others] = await commands(`?ack=${asked.id}`)
    expect(others).toEqual([])
    expect(commit).toMatchObject({
      type: 'restore.commit',
      restore,
      token: 'plan-token',
      authorisedBy: { name: 'Ada', isOwner: true },
    })
    const report = reportOf(restore)
    expect((await putReport(restore, report)).json).toEqual({ status: 'done' })
    expect((await putReport(restore, report)).json).toEqual({ status: 'done' })
    expect(await get(restore)).toMatchObject({ status: 'done', report: { verified: true }, error: null })
    expect(await commands()).toEqual([])
    const undo = await ada.call('POST', `/v1/restores/${restore}/undo`)
    expect(undo).toMatchObject({
      status: 202,
      json: { status: 'queued', turn: report.turn, request: { mode: 'run' } },
    })
    const rows = await stack.database
      .sql`select action from audit_events where objects->>'restore' = ${restore} order by id`
    expect(rows.map((row) => row.action)).toEqual([
      'restore.requested',
      'restore.planned',
      'restore.reported',
    ])
  })

  test.each<[string, object]>([
    ['a conflict', { preview: { ...clean, conflicts: [{ path: 'a.txt', reason: 'changed-after-turn' }] } }],
    ['something else undone', { preview: { ...clean, alsoUndoes: [{ path: 'a.txt', turn: newId('t') }] } }],
    ['a sensitive path', { preview: { ...clean, sensitive: ['package.json'] } }],
    ['another HEAD', { preview: { ...clean, head: { then: 'a', now: 'b' } } }],
    ['the machine’s wish', { mayRunAtOnce: false }],
  ])('waits for a second one with %s', async (_what, part) => {
    const restore = await request()
    expect((await putPlan(restore, part)).json).toEqual({ status: 'awaiting-confirmation' })
    expect(await commands()).toEqual([])
    expectProblem(
      await ada.call('POST', `/v1/restores/${restore}/confirm`, { body: { token: 'other' } }),
      409,
      'TOKEN_STALE',
    )
    const confirmed = await ada.call('POST', `/v1/restores/${restore}/confirm`, {
      body: { token: 'plan-token' },
    })
    expect(confirmed).toMatchObject({ status: 202, json: { status: 'applying' } })
    expect(await commands()).toMatchObject([{ type: 'restore.commit', token: 'plan-token' }])
    expectProblem(
      await ada.call('POST', `/v1/restores/${restore}/confirm`, { body: { token: 'plan-token' } }),
      409,
      'RESTORE_STATE_INVALID',
    )
    expectProblem(await ada.call('POST', `/v1/restores/${restore}/cancel`), 409, 'RESTORE_STATE_INVALID')
  })

  test('waits when it was only a preview, and when it was queued over a minute', async () => {
    expect((await putPlan(await request('preview'))).json).toEqual({ status: 'awaiting-confirmation' })
    const late = await request()
    stack.clock.offsetMs = 61_000
    expect((await putPlan(late)).json).toEqual({ status: 'awaiting-confirmation' })
  })

  test('taps at the same moment commit once', async () => {
    const restore = await request('preview')
    await putPlan(restore)
    const tap = () => ada.call('POST', `/v1/restores/${restore}/confirm`, { body: { token: 'plan-token' } })
    const answers = await Promise.all([tap(), tap(), tap()])
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409])
    expect(await commands()).toHaveLength(1)
  })
})

describe('what comes otherwise', () => {
  test('a refusal of the machine is told', async () => {
    const restore = await request()
    const refusal = { code: 'POLICY_REFUSED', message: 'The policy of this machine does not allow that.' }
    expect((await putPlan(restore, { preview: null, refusal })).json).toEqual({ status: 'refused' })
    expect(await get(restore)).toMatchObject({ status: 'refused', error: refusal })
    expectProblem(await putPlan(restore), 409, 'RESTORE_STATE_INVALID')
    expectProblem(await ada.call('POST', `/v1/restores/${restore}/undo`), 409, 'RESTORE_STATE_INVALID')
  })

  test('a cancelled one is not asked for any more', async () => {
    const restore = await request()
    const [asked] = await commands()
    expect((await ada.call('POST', `/v1/restores/${restore}/cancel`)).json.status).toBe('cancelled')
    expect(await commands()).toMatchObject([{ type: 'restore.cancel', restore }])
    expect((await commands())[0].id).not.toBe(asked.id)
    expectProblem(await putPlan(restore), 409, 'RESTORE_STATE_INVALID')
    expectProblem(await putReport(restore, reportOf(restore)), 409, 'RESTORE_STATE_INVALID')
  })

  test('a plan is good for ten minutes', async () => {
    const restore = await request('preview')
    await putPlan(restore)
    stack.clock.offsetMs = 601_000
    expectProblem(
      await ada.call('POST', `/v1/restores/${restore}/confirm`, { body: { token: 'plan-token' } }),
      409,
      'TOKEN_STALE',
    )
    await expireRestores(stack.deps)
    expect((await get(restore)).status).toBe('expired')
  })

  test('a report that comes late, after a commit, still counts; a refused one says why', async () => {
    const restore = await request()
    await putPlan(restore)
    stack.clock.offsetMs = 2 * 3_600_000
    await expireRestores(stack.deps)
    expect((await get(restore)).status).toBe('expired')
    const error = {
      code: 'TOKEN_STALE',
      message: 'Something changed since the preview, so nothing was done.',
    }
    expect(
      (await putReport(restore, reportOf(restore, { status: 'refused', turn: null, error }))).json,
    ).toEqual({ status: 'refused' })
    expect(await get(restore)).toMatchObject({ status: 'refused', error })
  })

  test('a restore made at the machine itself is reported too', async () => {
    const restore = newId('r')
    const report = reportOf(restore, { requestedBy: { kind: 'local', name: 'ada' }, status: 'nothing-to-do' })
    expect((await putReport(restore, report)).json).toEqual({ status: 'done' })
    expect((await putReport(restore, report)).json).toEqual({ status: 'done' })
    expectProblem(await putReport(restore, { ...report, unchanged: 1 }), 409, 'RESTORE_STATE_INVALID')
    const listed = (await ada.call('GET', `/v1/projects/${machine.project}/restores`)).json.items
    expect(listed.find((item: { id: string }) => item.id === restore)).toMatchObject({
      request: null,
      requestedBy: { kind: 'local' },
    })
  })

  test('plans and reports that another signed, or for another restore, are refused', async () => {
    const restore = await request()
    const other = await stack.machine(ada, 'desk')
    const url = `/v1/restores/${restore}/plan`
    expectProblem(
      await machine.putEnvelope(url, other.envelope('plan', planBody(restore))),
      401,
      'SIGNATURE_INVALID',
    )
    expectProblem(
      await machine.putEnvelope(url, machine.envelope('report', planBody(restore))),
      401,
      'SIGNATURE_INVALID',
    )
    expectProblem(
      await machine.putEnvelope(url, machine.envelope('plan', planBody(newId('r')))),
      400,
      'VALIDATION_FAILED',
    )
    expectProblem(
      await machine.putEnvelope(url, machine.envelope('plan', 'no json')),
      400,
      'VALIDATION_FAILED',
    )
    expectProblem(
      await other.putEnvelope(url, other.envelope('plan', planBody(restore))),
      404,
      'RESTORE_NOT_FOUND',
    )
    const two = { preview: null, refusal: null }
    expectProblem(await putPlan(restore, two), 400, 'VALIDATION_FAILED')
  })

  test('of a turn that is not the workspace’s, or a machine that is gone', async () => {
    const ask = (body: object) =>
      ada.call('POST', '/v1/restores', { body: { workspace, turn, mode: 'run', ...body } })
    expectProblem(await ask({ turn: newId('t') }), 404, 'TURN_NOT_FOUND')
    const sibling = await machine.workspace({ name: 'sibling' })
    expectProblem(await ask({ workspace: sibling }), 404, 'TURN_NOT_FOUND')
    expectProblem(await ask({ paths: ['../x'] }), 400, 'VALIDATION_FAILED')
    await ada.call('DELETE', `/v1/machines/${machine.id}`)
    expectProblem(await ask({}), 403, 'MACHINE_REVOKED')
  })

  test('more than thirty an hour', async () => {
    for (let n = 0; n < 30; n++) await request()
    expectProblem(
      await ada.call('POST', '/v1/restores', { body: { workspace, turn, mode: 'run' } }),
      429,
      'RATE_LIMITED',
    )
  })
})

describe('waiting', () => {
  test('a browser hears of the plan as soon as it is there', async () => {
    const restore = await request('preview')
    const waiting = ada.call('GET', `/v1/restores/${restore}?waitSeconds=30`)
    await putPlan(restore)
    expect((await waiting).json.status).toBe('awaiting-confirmation')
  })

  test('a machine hears of a command as soon as it is there, and can say that it has it', async () => {
    const waiting = commands('?waitSeconds=30')
    const restore = await request()
    const [asked] = await waiting
    expect(asked).toMatchObject({ type: 'plan.request', restore })
    expect(await commands(`?ack=${asked.id}&ack=${newId('c')}`)).toEqual([])
    expect((await get(restore)).status).toBe('planning')
  })
})

test('the list is newest first, in pages', async () => {
  const restores = [await request(), await request(), await request()]
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { items: { id: string }[]; nextCursor: string | null } = (
      await ada.call(
        'GET',
        `/v1/projects/${machine.project}/restores?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
    ).json
    seen.push(...page.items.map((item) => item.id))
    cursor = page.nextCursor
  }
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).toEqual(expect.arrayContaining(restores))
})
