import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type MachineMessage, machineMessageSchema, type ServerMessage } from '@turnback/core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { makeBackoff } from '#sync/backoff.ts'
import { makeCaller } from '#sync/caller.ts'
import type { Acknowledge } from '#sync/commands.ts'
import { LinkLoop } from '#sync/link-loop.ts'
import { Wake } from '#sync/wake.ts'
import { makeSyncStore, type SyncStore } from './support/sync-store.ts'

/** A service that speaks the link and says whatever the test has it say. */
let server: Server
let sockets: WebSocketServer
let store: SyncStore
let loop: { stop(): Promise<void> }
let handled: ServerMessage[]
let notes: { event: string; facts: Readonly<Record<string, unknown>> }[]
let states: string[]
let upgrades: IncomingMessage[]
let onHandled: (message: ServerMessage, acknowledge: Acknowledge) => void | Promise<void>

beforeEach(async () => {
  store = makeSyncStore('link')
  server = createServer()
  sockets = new WebSocketServer({ server })
  server.on('upgrade', (request) => upgrades.push(request))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  handled = []
  notes = []
  states = []
  upgrades = []
  onHandled = (_, acknowledge) => acknowledge()
})
afterEach(async () => {
  await loop.stop()
  for (const socket of sockets.clients) socket.terminate()
  server.closeAllConnections()
  server.close()
  store.close()
})

function startLoop(): void {
  const stop = new AbortController()
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const { clock, identity } = store
  const caller = makeCaller({ server: url, clock, random: randomBytes, signer: identity, bearer: null })
  const running = new LinkLoop({
    caller,
    commands: {
      async handle(message, acknowledge) {
        handled.push(message)
        await onHandled(message, acknowledge)
      },
    },
    backoff: makeBackoff({ firstMs: 10, ceilingMs: 50 }, Math.random),
    wake: new Wake(),
    hello: () => ({ type: 'hello', machine: identity.machine, version: '0', policy: { remote: 'ask' } }),
    onState: (state) => states.push(state),
    note: (event, facts = {}) => notes.push({ event, facts }),
  }).run(stop.signal)
  loop = {
    async stop() {
      stop.abort()
      await running
      caller.close()
    },
  }
}

async function connected(): Promise<WebSocket> {
  const [socket] = await once(sockets, 'connection')
  return socket
}

async function heard(socket: WebSocket): Promise<MachineMessage> {
  const [data] = await once(socket, 'message')
  return machineMessageSchema.parse(JSON.parse(String(data)))
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}

const cancel = (): ServerMessage => ({
  type: 'restore.cancel',
  id: store.newId('c'),
  restore: store.newId('r'),
})

it('opens with a signed handshake, says hello, acknowledges and answers pings', async () => {
  startLoop()
  const socket = await connected()
  expect(await heard(socket)).toMatchObject({ type: 'hello', machine: store.identity.machine })
  const header = upgrades[0]?.headers.authorization ?? ''
  const [, ts, nonce, sha256, sig = ''] =
    /ts=(\d+),nonce=([\w-]+),sha256=(\w+),sig=([\w-]+)$/.exec(header) ?? []
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: store.identity.publicKey },
    format: 'jwk',
  })
  const signed = `turnback/request/v1\nGET\n/v1/machines/link\n${ts}\n${nonce}\n${sha256}`
  expect(verify(null, Buffer.from(signed), key, Buffer.from(sig, 'base64url'))).toBe(true)
  socket.send(JSON.stringify({ type: 'ping' }))
  expect(await heard(socket)).toEqual({ type: 'pong' })
  const message = cancel()
  socket.send(JSON.stringify(message))
  expect(await heard(socket)).toEqual({ type: 'ack', id: 'id' in message ? message.id : '' })
  expect(handled.at(-1)).toEqual(message)
})

const plan = {
  type: 'plan.request',
  id: `c_${'1'.repeat(26)}`,
  restore: `r_${'1'.repeat(26)}`,
  request: { workspace: `w_${'1'.repeat(26)}`, turn: `t_${'1'.repeat(26)}`, mode: 'run' },
  requestedBy: { kind: 'user', name: 'x', isOwner: true, signedInAt: null },
  requestedAt: '2026-11-30T10:00:00.000Z',
}
it.each([
  ['an unknown verb', { type: 'shell.run', id: `c_${'1'.repeat(26)}`, command: 'rm -rf ~' }],
  ['a known verb with something more', { ...plan, andThen: 'run' }],
  [
    'a path that leaves the workspace',
    { ...plan, request: { ...plan.request, paths: ['../../.ssh/authorized_keys'] } },
  ],
  ['an absolute path', { ...plan, request: { ...plan.request, paths: ['/etc/passwd'] } }],
  ['a path into .git', { ...plan, request: { ...plan.request, paths: ['.git/hooks/pre-commit'] } }],
  ['no JSON', 'hello there'],
])('closes the link on %s, does nothing of it, and says so in the log', async (_, message) => {
  startLoop()
  const socket = await connected()
  socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  socket.send(JSON.stringify(cancel()))
  const [code] = await once(socket, 'close')
  expect(code).toBe(1008)
  await until(() => notes.some(({ event }) => event === 'link-ended'))
  expect(handled).toEqual([])
  const ended = notes.find(({ event }) => event === 'link-ended')
  expect(ended?.facts.why).toBe('foreign-message')
  expect(JSON.stringify(notes)).not.toContain('rm -rf')
})

it('takes the very same message when it is of the set', async () => {
  startLoop()
  const socket = await connected()
  socket.send(JSON.stringify({ ...plan, request: { ...plan.request, paths: ['src/a.ts'] } }))
  await until(() => handled.length === 1)
  expect(handled[0]).toMatchObject({
    type: 'plan.request',
    request: { paths: ['src/a.ts'], scope: 'from-turn' },
  })
})

it('comes back after the link was lost', async () => {
  startLoop()
  const first = await connected()
  first.terminate()
  const second = await connected()
  expect(await heard(second)).toMatchObject({ type: 'hello' })
  expect(states).toEqual(['socket', 'down', 'socket'])
})

it('does one thing after the other', async () => {
  startLoop()
  const socket = await connected()
  let running = 0
  let most = 0
  let done = 0
  onHandled = async (_, acknowledge) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    acknowledge()
    running--
    done++
  }
  for (let i = 0; i < 20; i++) socket.send(JSON.stringify(cancel()))
  await until(() => done === 20)
  expect(most).toBe(1)
})

it('fetches messages where no socket comes up, says what was taken up, and does each once', {
  timeout: 10_000,
}, async () => {
  sockets.close()
  server.removeAllListeners('upgrade')
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
  const message = cancel()
  const queries: URLSearchParams[] = []
  let waiting = [message]
  server.on('request', (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    queries.push(searchParams)
    if (searchParams.getAll('ack').length > 0) waiting = []
    const isIdle = waiting.length === 0 && queries.length > 3
    if (!isIdle)
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ commands: waiting }))
  })
  startLoop()
  await until(() => queries.length > 3)
  expect(states).toContain('poll')
  expect(handled).toEqual([message])
  expect(queries[0]?.get('waitSeconds')).toBe('0')
  expect(queries.some((query) => 'id' in message && query.getAll('ack').includes(message.id))).toBe(true)
})
