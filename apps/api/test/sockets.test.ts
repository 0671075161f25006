import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { WorkspaceId } from '@turnback/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { newId, TestLog, type TestMachine } from './set-up/machine.ts'
import { ORIGIN, Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let machine: TestMachine
let workspace: WorkspaceId
let base: string
const open: Talk[] = []

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
  await stack.app.listen({ host: '127.0.0.1', port: 0 })
  base = `ws://127.0.0.1:${(stack.app.server.address() as AddressInfo).port}`
})
afterAll(() => stack.stop())
beforeEach(async () => {
  machine = await stack.machine(ada)
  workspace = await machine.workspace()
})
afterEach(() => {
  for (const talk of open.splice(0)) talk.socket.terminate()
})

/** One socket, with what was heard on it. */
class Talk {
  readonly socket: WebSocket
  readonly heard: { type: string; [field: string]: unknown }[] = []
  readonly closed: Promise<number>

  constructor(path: string, headers: Record<string, string>) {
    this.socket = new WebSocket(base + path, { headers })
    open.push(this)
    this.socket.on('message', (data) => this.heard.push(JSON.parse(String(data))))
    this.socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.socket.on('close', resolve))
  }

  say(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  async hear(type: string): Promise<Record<string, unknown>> {
    await expect
      .poll(() => this.heard.some((message) => message.type === type), { timeout: 10_000 })
      .toBe(true)
    return this.heard.find((message) => message.type === type) ?? {}
  }

  /** HTTP status of a handshake that was refused, or 101. */
  async status(): Promise<number> {
    return await Promise.race([
      once(this.socket, 'open').then(() => 101),
      new Promise<number>((resolve) =>
        this.socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0)),
      ),
    ])
  }
}

const LINK = '/v1/machines/link'
const hello = (by: TestMachine) => ({
  type: 'hello',
  machine: by.id,
  version: '1.2',
  policy: { remote: 'owner' },
})

async function link(by = machine): Promise<Talk> {
  const talk = new Talk(LINK, { authorization: by.authorization('GET', LINK, Buffer.alloc(0)) })
  await once(talk.socket, 'open')
  await talk.hear('hello')
  talk.say(hello(by))
  return talk
}

const listed = async (of = machine) =>
  (await ada.call('GET', '/v1/machines?limit=200')).json.items.find((one: { id: string }) => one.id === of.id)

async function requestRestore(): Promise<string> {
  const turn = (await new TestLog(machine, workspace).push()).manifest.turn
  return (await ada.call('POST', '/v1/restores', { body: { workspace, turn, mode: 'run' } })).json.id
}

describe('a machine’s link', () => {
  test('makes it online, with its policy, until it ends', async () => {
    const talk = await link()
    await expect.poll(async () => (await listed()).online).toBe(true)
    expect(await listed()).toMatchObject({ version: '1.2', policy: { remote: 'owner' } })
    talk.socket.close()
    await expect.poll(async () => (await listed()).online).toBe(false)
    expect((await listed()).lastSeenAt).not.toBeNull()
  })

  test('brings a command at once, and again on the next link until it is acknowledged', async () => {
    const first = await link()
    const restore = await requestRestore()
    expect(await first.hear('plan.request')).toMatchObject({ restore })
    first.socket.terminate()
    const second = await link()
    const asked = await second.hear('plan.request')
    expect(asked).toMatchObject({ restore })
    second.say({ type: 'ack', id: asked.id })
    await expect
      .poll(async () => (await ada.call('GET', `/v1/restores/${restore}`)).json.status)
      .toBe('planning')
    second.socket.terminate()
    const third = await link()
    await requestAnother(third)
    expect(third.heard.filter((message) => message.type === 'plan.request')).toHaveLength(0)
  })

  /** Something later on the same link: what was to come before it has come. */
  async function requestAnother(talk: Talk): Promise<void> {
    const [row] = await stack.database.sql`select id from restores where workspace_id = ${workspace}`
    await ada.call('POST', `/v1/restores/${row?.id}/cancel`)
    await talk.hear('restore.cancel')
  }

  test('needs a signature, made once, and is no browser’s', async () => {
    expect(await new Talk(LINK, {}).status()).toBe(401)
    expect(await new Talk(LINK, { cookie: ada.cookie, origin: ORIGIN }).status()).toBe(403)
    const authorization = machine.authorization('GET', LINK, Buffer.alloc(0))
    expect(await new Talk(LINK, { authorization }).status()).toBe(101)
    expect(await new Talk(LINK, { authorization }).status()).toBe(401)
    const withOrigin = { authorization: machine.authorization('GET', LINK, Buffer.alloc(0)), origin: ORIGIN }
    expect(await new Talk(LINK, withOrigin).status()).toBe(403)
  })

  test('is closed within five seconds when the machine is removed', async () => {
    const talk = await link()
    await expect.poll(async () => (await listed()).online).toBe(true)
    const startedAt = Date.now()
    await ada.call('DELETE', `/v1/machines/${machine.id}`)
    expect(await talk.closed).toBe(1008)
    expect(Date.now() - startedAt).toBeLessThan(5_000)
    expect(
      await new Talk(LINK, { authorization: machine.authorization('GET', LINK, Buffer.alloc(0)) }).status(),
    ).toBe(403)
  })

  test.each<[string, unknown]>([
    ['an unknown verb', { type: 'run', command: 'rm -rf /' }],
    ['a field too many', { type: 'pong', extra: 1 }],
    ['no JSON', 'hello?'],
  ])('ends with %s, which goes to the audit', async (_what, message) => {
    const talk = await link()
    talk.say(message)
    expect(await talk.closed).toBe(1008)
    const rows = await stack.database
      .sql`select 1 from audit_events where action = 'link.broken-rules' and actor_id = ${machine.id}`
    expect(rows).toHaveLength(1)
  })

  test('ends for a machine that calls itself another, and for frames above the limit', async () => {
    const posing = new Talk(LINK, { authorization: machine.authorization('GET', LINK, Buffer.alloc(0)) })
    await once(posing.socket, 'open')
    posing.say({ ...hello(machine), machine: newId('m') })
    expect(await posing.closed).toBe(1008)
    const loud = await link()
    loud.say('x'.repeat(65 * 1024))
    expect(await loud.closed).toBe(1009)
  })

  test('the later of two is the machine’s', async () => {
    const first = await link()
    const second = await link()
    expect(await first.closed).toBe(4000)
    const restore = await requestRestore()
    expect(await second.hear('plan.request')).toMatchObject({ restore })
    await expect.poll(async () => (await listed()).online).toBe(true)
  })
})

describe('a browser’s socket', () => {
  const live = (person = ada) => new Talk('/v1/live', { cookie: person.cookie, origin: ORIGIN })

  async function subscribed(person = ada): Promise<Talk> {
    const talk = live(person)
    await once(talk.socket, 'open')
    talk.say({ type: 'subscribe', project: machine.project })
    await talk.hear('subscribed')
    return talk
  }

  test('hears of turns, restores and machines of its projects: ids, no more', async () => {
    const talk = await subscribed()
    const { manifest } = await new TestLog(machine, workspace).push()
    expect(await talk.hear('turn')).toEqual({ type: 'turn', project: machine.project, turn: manifest.turn })
    const restore = await ada.call('POST', '/v1/restores', {
      body: { workspace, turn: manifest.turn, mode: 'run' },
    })
    expect(await talk.hear('restore')).toEqual({
      type: 'restore',
      project: machine.project,
      restore: restore.json.id,
    })
    await link()
    expect(await talk.hear('machine')).toEqual({
      type: 'machine',
      project: machine.project,
      machine: machine.id,
    })
  })

  test('hears nothing of projects that are not its own', async () => {
    const bob = await stack.person('Bob')
    const foreign = live(bob)
    await once(foreign.socket, 'open')
    foreign.say({ type: 'subscribe', project: machine.project })
    foreign.say({ type: 'subscribe', project: newId('p') })
    const own = (await bob.call('POST', '/v1/projects', { body: { name: 'Own' } })).json.id
    foreign.say({ type: 'subscribe', project: own })
    await foreign.hear('subscribed')
    const talk = await subscribed()
    await new TestLog(machine, workspace).push()
    await talk.hear('turn')
    expect(foreign.heard).toEqual([{ type: 'subscribed', project: own }])
  })

  test('opens only from our own pages, and only for who is signed in', async () => {
    expect(await new Talk('/v1/live', { cookie: ada.cookie }).status()).toBe(403)
    expect(await new Talk('/v1/live', { cookie: ada.cookie, origin: 'https://evil.test' }).status()).toBe(403)
    expect(await new Talk('/v1/live', { cookie: ada.cookie, origin: `${ORIGIN}.evil.test` }).status()).toBe(
      403,
    )
    expect(await new Talk('/v1/live', { origin: ORIGIN }).status()).toBe(401)
    expect(await live().status()).toBe(101)
  })

  test('ends with what is no message of the set, and with frames above the limit', async () => {
    const talk = await subscribed()
    talk.say({ type: 'publish', project: machine.project })
    expect(await talk.closed).toBe(1008)
    const loud = await subscribed()
    loud.say('x'.repeat(65 * 1024))
    expect(await loud.closed).toBe(1009)
  })
})

test('a plain request to a socket’s address is told that there is nothing', async () => {
  const answer = await ada.call('GET', '/v1/live')
  expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
})
