import { type Route, routes } from '@turnback/core/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { impliedErrors } from '#http/openapi.ts'
import { type Answer, call } from './set-up/call.ts'
import { newId, TestLog, type TestMachine } from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let bob: TestPerson
let own: TestMachine
let foreign: TestMachine
const ids: Record<string, string> = {}

/** Ids that are well formed and nobody's. */
const unknown = (): Record<string, string> => ({
  project: newId('p'),
  machine: newId('m'),
  workspace: newId('w'),
  turn: newId('t'),
  restore: newId('r'),
  packId: 'a'.repeat(64),
  path: 'a.txt',
})

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
  bob = await stack.person('Bob')
  own = await stack.machine(ada)
  foreign = await stack.machine(bob)
  const workspace = await own.workspace()
  const turn = (await new TestLog(own, workspace).push()).manifest.turn
  const restore = await ada.call('POST', '/v1/restores', { body: { workspace, turn, mode: 'preview' } })
  expect(restore.status).toBe(202)
  Object.assign(ids, unknown(), {
    project: own.project,
    machine: own.id,
    workspace,
    turn,
    restore: restore.json.id,
  })
})
afterAll(() => stack.stop())

const bodies: Partial<Record<keyof typeof routes, (named: Record<string, string>) => unknown>> = {
  createRestore: ({ workspace, turn }) => ({ workspace, turn, mode: 'preview' }),
  createEnrollment: ({ project }) => ({ project }),
  confirmRestore: () => ({ token: 'x' }),
  putWorkspace: () => ({ root: '/home/x', name: 'x', project: null }),
  findMissingBlobs: () => ({ ids: [] }),
}
const byName = Object.entries(routes) as [keyof typeof routes, Route][]
const withIds = byName.filter(
  ([name, route]) => /\{/.test(route.path) || name === 'createRestore' || name === 'createEnrollment',
)
/** A PUT that makes what it names: an unknown id is no error, and a foreign one is tested by its own line below. */
const makes = new Set(['putWorkspace', 'putTurn', 'putReport'])

function urlOf(route: Route, named: Record<string, string>): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => named[name] ?? '')
  return route.path.endsWith('/files/{path}') ? `${path}?side=after` : path
}

function envelopeFor(
  name: string,
  machine: TestMachine,
  named: Record<string, string>,
): Uint8Array | undefined {
  const at = new Date().toISOString()
  const { restore, workspace } = named
  if (name === 'putPlan')
    return machine.envelope('plan', {
      restore,
      workspace,
      preview: null,
      refusal: { code: 'BUSY', message: 'busy' },
      mayRunAtOnce: false,
      plannedAt: at,
    })
  if (name === 'putHead') return machine.envelope('head', { workspace, seq: 0, sha256: null, number: 1, at })
  if (name === 'putPack') return Buffer.from('turnback-pack/1\n')
  return undefined
}

async function ask(
  name: keyof typeof routes,
  route: Route,
  named: Record<string, string>,
  who: 'person' | 'machine',
): Promise<Answer> {
  const method = route.method
  const url = urlOf(route, named)
  const bytes = envelopeFor(name, foreign, named)
  const body = bytes ?? bodies[name]?.(named)
  const headers =
    bytes === undefined || route.bytes === undefined ? {} : { 'content-type': route.bytes.contentType }
  if (who === 'person') return await bob.call(method, url, { body, headers })
  if (method === 'PATCH' || method === 'DELETE') throw new Error('no machine does that')
  return await foreign.call(method, url, { body, headers })
}

describe('another tenant’s ids look like nobody’s', () => {
  test.each(withIds.filter(([name]) => !makes.has(name)))('%s', async (name, route) => {
    const who = route.access.kind === 'machine' ? 'machine' : 'person'
    const theirs = await ask(name, route, ids, who)
    const nobodys = await ask(name, route, unknown(), who)
    expect(theirs.status).toBe(404)
    expect({ ...theirs.json, instance: '' }).toEqual({ ...nobodys.json, instance: '' })
    expect(route.errors).toContain(theirs.json.code)
  })

  test('putWorkspace, putTurn and putReport into another machine’s workspace', async () => {
    const put = await foreign.call('PUT', `/v1/workspaces/${ids.workspace}`, {
      body: { root: '/x', name: 'x', project: null },
    })
    expect(put).toMatchObject({ status: 404, json: { code: 'WORKSPACE_NOT_FOUND' } })
    for (const workspace of [ids.workspace ?? '', newId('w')]) {
      const manifest = { ...new TestLog(foreign, newId('w')).manifest(), workspace }
      const turn = await foreign.putTurn(manifest.turn, foreign.envelope('turn', manifest))
      expect(turn).toMatchObject({ status: 404, json: { code: 'WORKSPACE_NOT_FOUND' } })
    }
  })
})

describe('without a name nothing opens', () => {
  test.each(byName.filter(([, route]) => route.access.kind !== 'public'))('%s', async (name, route) => {
    const body = route.bytes === undefined ? bodies[name]?.(ids) : Buffer.from('x')
    const headers = route.bytes === undefined ? {} : { 'content-type': route.bytes.contentType }
    const answer = await call(stack.app, route.method, urlOf(route, ids), { body, headers })
    expect(answer).toMatchObject({ status: 401, json: { code: 'UNAUTHENTICATED' } })
    expect([...route.errors, ...impliedErrors(route)]).toContain('UNAUTHENTICATED')
  })
})

test('every route of the contract is served, and nothing else below /v1 but sign-in and sockets', () => {
  for (const [, route] of byName) {
    const url = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    expect({ url, isServed: stack.app.hasRoute({ method: route.method, url }) }).toEqual({
      url,
      isServed: true,
    })
  }
})

test('an address that is none is a problem with a code, also a broken one', async () => {
  for (const url of ['/v1/nothing', '/nothing', '/v1/turns']) {
    const answer = await call(stack.app, 'GET', url)
    expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
  }
  expect(await ada.call('GET', '/v1/turns/not-an-id')).toMatchObject({
    status: 404,
    json: { code: 'TURN_NOT_FOUND' },
  })
  expect(await call(stack.app, 'GET', '/v1/%ff')).toMatchObject({
    status: 400,
    json: { code: 'VALIDATION_FAILED' },
  })
})

test('a viewer sees and does not touch', async () => {
  const eve = await stack.person('Eve')
  await stack.database
    .sql`insert into project_members values (${own.project}, ${eve.person.id}, 'viewer', now())`
  expect((await eve.call('GET', `/v1/turns/${ids.turn}`)).status).toBe(200)
  const body = { workspace: ids.workspace, turn: ids.turn, mode: 'run' }
  expect(await eve.call('POST', '/v1/restores', { body })).toMatchObject({
    status: 403,
    json: { code: 'FORBIDDEN' },
  })
  for (const deed of ['confirm', 'cancel', 'undo']) {
    const answer = await eve.call('POST', `/v1/restores/${ids.restore}/${deed}`, { body: { token: 'x' } })
    expect(answer).toMatchObject({ status: 403, json: { code: 'FORBIDDEN' } })
  }
})

test('a lead who does not own the machine asks nothing of it', async () => {
  const lea = await stack.person('Lea')
  await stack.database
    .sql`insert into project_members values (${own.project}, ${lea.person.id}, 'lead', now())`
  const body = { workspace: ids.workspace, turn: ids.turn, mode: 'preview' }
  expect(await lea.call('POST', '/v1/restores', { body })).toMatchObject({
    status: 403,
    json: { code: 'FORBIDDEN' },
  })
  for (const deed of ['confirm', 'cancel', 'undo']) {
    const answer = await lea.call('POST', `/v1/restores/${ids.restore}/${deed}`, { body: { token: 'x' } })
    expect(answer).toMatchObject({ status: 403, json: { code: 'FORBIDDEN' } })
  }
  expect((await lea.call('GET', `/v1/restores/${ids.restore}`)).status).toBe(200)
})
