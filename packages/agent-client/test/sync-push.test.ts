import { randomBytes } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { limits, REPORT_FORMAT, type RestoreReport } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSealed } from '#crypto/seal.ts'
import type { HeadItem, Workspace } from '#ports.ts'
import { makeCaller } from '#sync/caller.ts'
import { findLastError, Pusher } from '#sync/push.ts'
import { type Received, readPack, type StandIn, startStandIn } from './support/stand-in-service.ts'
import { makeSyncStore, type SyncStore } from './support/sync-store.ts'

let store: SyncStore
let service: StandIn

beforeEach(async () => {
  store = makeSyncStore('push')
  service = await startStandIn(store.identity.publicKey)
})
afterEach(async () => {
  await service.stop()
  store.close()
})

function makePusher(url = service.url) {
  const { log, blobs, identity, clock } = store
  const caller = makeCaller({ server: url, clock, random: randomBytes, signer: identity, bearer: null })
  return new Pusher({ log, blobs, identity, clock, caller, note: () => undefined })
}

const pathsOf = (method: string, pattern: RegExp) =>
  service.received.filter((request) => request.method === method && pattern.test(request.path))
const isPack = (request: Received) => request.path.includes('/packs/')
const SECRET = 'API_KEY=correct-horse-battery-928371\n'

it('sends bytes, then the envelope exactly as it was signed, in the order of the chain', async () => {
  const workspace = store.addWorkspace()
  const turns = [
    store.addTurn(workspace, { 'a.txt': 'one\n', 'b.txt': 'two\n' }),
    store.addTurn(workspace, { 'a.txt': 'three\n' }),
  ]
  const result = await makePusher().run()
  expect(result).toMatchObject({ pushed: 2, unpushed: 0, error: null, setAside: [] })
  expect([...service.turns.keys()]).toEqual(turns.map((turn) => turn.turn))
  for (const { turn } of turns) {
    expect(service.turns.get(turn)?.bytes.equals(zstdDecompressSync(store.log.getEnvelopeZstd(turn)))).toBe(
      true,
    )
  }
  expect(service.blobs.size).toBe(3)
})

it('sends nothing twice', async () => {
  const workspace = store.addWorkspace()
  store.addTurn(workspace, { 'a.txt': 'one\n' })
  await makePusher().run()
  const requests = service.received.length
  expect(await makePusher().run()).toMatchObject({ pushed: 0, unpushed: 0, error: null })
  expect(service.received.length).toBe(requests)
  store.addTurn(workspace, { 'copy.txt': 'one\n' })
  await makePusher().run()
  expect(pathsOf('PUT', /packs/).length).toBe(1)
})

it('lets sealed bytes out only as age files for this machine', async () => {
  const workspace = store.addWorkspace()
  store.addTurn(workspace, { '.env': SECRET, 'a.txt': 'plain words\n' })
  await makePusher().run()
  const sealed = [...service.blobs.values()].find((frame) => frame.id.startsWith('s'))
  expect(sealed?.codec).toBe('age')
  expect(
    Buffer.from(await openSealed(store.identity.ageIdentity, sealed?.stored ?? Buffer.alloc(0))).toString(),
  ).toBe(SECRET)
  const sent = service.received.flatMap(plainForms)
  expect(sent.some((bytes) => bytes.includes('plain words'))).toBe(true)
  expect(sent.some((bytes) => bytes.includes('correct-horse'))).toBe(false)
})

it('does not tell the exact length of sealed bytes by a pack', async () => {
  const workspace = store.addWorkspace()
  store.addTurn(workspace, { '.env': SECRET, '.env.local': `${SECRET}and a little more\n` })
  await makePusher().run()
  const frames = [...service.blobs.values()].filter((frame) => frame.codec === 'age')
  expect(frames.map((frame) => frame.sizeBytes)).toEqual([1024, 1024])
  expect(new Set(frames.map((frame) => frame.stored.length)).size).toBe(1)
})

/** A request's body, and all that can be unpacked from it. */
function plainForms(request: Received): Buffer[] {
  if (isPack(request)) {
    const frames = readPack(request.body)
    return [
      request.body,
      ...frames.map((frame) => (frame.codec === 'zstd' ? zstdDecompressSync(frame.stored) : frame.stored)),
    ]
  }
  return request.path.includes('/turns/') ? [request.body, zstdDecompressSync(request.body)] : [request.body]
}

it('keeps packs to their size, or to exactly one frame', async () => {
  const workspace = store.addWorkspace()
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`f${i}`, randomBytes(5 * 1024 * 1024)]),
  )
  store.addTurn(workspace, { ...files, big: randomBytes(20 * 1024 * 1024) })
  expect(await makePusher().run()).toMatchObject({ pushed: 1, error: null })
  const packs = pathsOf('PUT', /packs/).map((request) => ({
    bytes: request.body.length,
    frames: readPack(request.body).length,
  }))
  expect(packs.length).toBe(4)
  for (const pack of packs) expect(pack.bytes <= limits.packBytes || pack.frames === 1).toBe(true)
  expect(packs.reduce((sum, pack) => sum + pack.frames, 0)).toBe(9)
})

it('says that the service is away, keeps everything and sends it later', async () => {
  const workspace = store.addWorkspace()
  store.addTurn(workspace, { 'a.txt': 'one\n' })
  service.state.fault = () => 'cut'
  const pusher = makePusher()
  const away = await pusher.run()
  expect(away.error?.code).toBe('SERVER_UNREACHABLE')
  expect(away).toMatchObject({ pushed: 0, unpushed: 1, setAside: [] })
  expect(findLastError(store.log)?.code).toBe('SERVER_UNREACHABLE')
  service.state.fault = () => undefined
  expect(await pusher.run()).toMatchObject({ pushed: 1, unpushed: 0, error: null })
  expect(findLastError(store.log)).toBeNull()
})

it('takes the page of another network for no answer at all', async () => {
  store.addTurn(store.addWorkspace(), { 'a.txt': 'one\n' })
  service.state.fault = () => 'html'
  const result = await makePusher().run()
  expect(result.error).toMatchObject({ code: 'SERVER_UNREACHABLE', details: { why: 'NOT_TURNBACK' } })
  expect(result.unpushed).toBe(1)
})

it('goes on where it was cut off, wherever that was', async () => {
  const workspace = store.addWorkspace()
  for (let i = 0; i < 4; i++) store.addTurn(workspace, { [`f${i}`]: `content ${i}\n` })
  let seen = 0
  service.state.fault = () => (++seen % 5 >= 3 ? 'cut' : undefined)
  const pusher = makePusher()
  let runs = 0
  while (store.log.countOutbox().unpushed > 0 && runs < 40) {
    await pusher.run()
    runs++
  }
  expect(runs).toBeGreaterThan(1)
  expect(service.turns.size).toBe(4)
  expect(store.log.listSetAside()).toEqual([])
})

it('sets aside a turn that is too large, says why, and lets the next ones through', async () => {
  const workspace = store.addWorkspace()
  const first = store.addTurn(workspace, { 'a.txt': 'one\n' })
  const large = store.addTurn(workspace, { 'large.bin': randomBytes(1000) })
  const last = store.addTurn(workspace, { 'b.txt': 'two\n' })
  service.state.fault = (request) =>
    isPack(request) && readPack(request.body).some((frame) => frame.sizeBytes === 1000)
      ? { status: 413, code: 'PAYLOAD_TOO_LARGE' }
      : undefined
  const result = await makePusher().run()
  expect(result).toMatchObject({ pushed: 2, unpushed: 0, error: null })
  expect(result.setAside).toMatchObject([{ turn: large.turn, code: 'PAYLOAD_TOO_LARGE' }])
  expect(store.log.listSetAside()).toMatchObject([
    { turn: large.turn, why: expect.stringMatching(/^PAYLOAD_TOO_LARGE: /) },
  ])
  expect([first, large, last].map(({ turn }) => service.turns.get(turn)?.type)).toEqual([
    'turn',
    'stub',
    'turn',
  ])
  const tries = pathsOf('PUT', /packs/).filter((request) =>
    readPack(request.body).some((frame) => frame.sizeBytes === 1000),
  )
  expect(tries.length).toBe(1)
  await makePusher().run()
  expect(pathsOf('PUT', /packs/).length).toBe(3)
})

it('sends smaller packs through a proxy that takes less', async () => {
  const workspace = store.addWorkspace()
  store.addTurn(
    workspace,
    Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, randomBytes(10_000)])),
  )
  service.state.fault = (request) => (request.body.length > 30_000 ? 'html-413' : undefined)
  expect(await makePusher().run()).toMatchObject({ pushed: 1, error: null, setAside: [] })
  const refused = pathsOf('PUT', /packs/).filter((request) => request.body.length > 30_000)
  expect(new Set(refused.map((request) => request.path)).size).toBe(refused.length)
})

it('gives up on a turn at which the service keeps failing, but not at once', async () => {
  const workspace = store.addWorkspace()
  const bad = store.addTurn(workspace, { 'a.txt': 'one\n' })
  const good = store.addTurn(workspace, { 'b.txt': 'two\n' })
  service.state.fault = (request) => {
    const isEnvelope = request.path === `/v1/turns/${bad.turn}`
    return isEnvelope && zstdDecompressSync(request.body).includes('envelope/1 turn')
      ? { status: 500, code: 'INTERNAL' }
      : undefined
  }
  const pusher = makePusher()
  for (let i = 0; i < 3; i++)
    expect(await pusher.run()).toMatchObject({ pushed: 0, setAside: [], error: { code: 'INTERNAL' } })
  expect(await pusher.run()).toMatchObject({
    pushed: 1,
    setAside: [{ turn: bad.turn, code: 'INTERNAL' }],
    error: null,
  })
  expect(service.turns.get(bad.turn)?.type).toBe('stub')
  expect(service.turns.get(good.turn)?.type).toBe('turn')
})

it('sets aside a turn whose bytes are gone from this machine', async () => {
  const workspace = store.addWorkspace()
  const lost = store.addTurn(workspace, { 'lost.txt': 'gone\n' })
  store.addTurn(workspace, { 'b.txt': 'two\n' })
  const after = lost.entries[0]?.after
  store.db.run('DELETE FROM blobs WHERE id = ?', after?.kind === 'file' ? after.blob : '')
  expect(await makePusher().run()).toMatchObject({
    pushed: 1,
    setAside: [{ turn: lost.turn, code: 'BLOB_NOT_FOUND' }],
  })
})

it('waits, and sets nothing aside, while the service does not know this machine', async () => {
  store.addTurn(store.addWorkspace(), { 'a.txt': 'one\n' })
  service.state.fault = () => ({ status: 401, code: 'SIGNATURE_INVALID' })
  const pusher = makePusher()
  for (let i = 0; i < 6; i++) expect((await pusher.run()).error?.code).toBe('SIGNATURE_INVALID')
  expect(store.log.countOutbox()).toEqual({ unpushed: 1, setAside: 0 })
})

it('sets aside a turn whose own signature is refused', async () => {
  const workspace = store.addWorkspace()
  const turn = store.addTurn(workspace, { 'a.txt': 'one\n' })
  service.state.fault = (request) =>
    request.path === `/v1/turns/${turn.turn}` && zstdDecompressSync(request.body).includes('envelope/1 turn')
      ? { status: 401, code: 'SIGNATURE_INVALID' }
      : undefined
  expect(await makePusher().run()).toMatchObject({
    setAside: [{ turn: turn.turn, code: 'MANIFEST_INVALID' }],
    error: null,
  })
})

it('offers everything again to a service that was set back, once', async () => {
  const workspace = store.addWorkspace()
  const turns = [
    store.addTurn(workspace, { 'a.txt': 'one\n' }),
    store.addTurn(workspace, { 'b.txt': 'two\n' }),
  ]
  const pusher = makePusher()
  await pusher.run()
  service.forgetAll()
  turns.push(store.addTurn(workspace, { 'c.txt': 'three\n' }))
  expect(await pusher.run()).toMatchObject({ error: null, unpushed: 0 })
  expect([...service.turns.keys()]).toEqual(turns.map(({ turn }) => turn))
  service.forgetAll()
  store.addTurn(workspace, { 'd.txt': 'four\n' })
  expect((await pusher.run()).error?.code).toBe('CHAIN_BROKEN')
})

it('sends reports of local restores, signed, and drops one that has no turn to belong to', async () => {
  const workspace = store.addWorkspace()
  const { turn } = store.addTurn(workspace, { 'a.txt': 'one\n' })
  const report = (restore: RestoreReport['restore'], of: RestoreReport['of']): RestoreReport => ({
    format: REPORT_FORMAT,
    restore,
    turn: null,
    of,
    status: 'refused',
    restored: [],
    deleted: [],
    merged: [],
    kept: [],
    failed: [],
    skipped: [],
    directories: { restored: [], deleted: [], kept: [] },
    alsoUndone: [],
    unchanged: 0,
    irreversible: [],
    verified: false,
    recovered: false,
    requestedBy: { kind: 'local', name: 'dev' },
    startedAt: new Date().toISOString(),
    endedAt: new Date().toISOString(),
  })
  const [told, empty] = [store.newId('r'), store.newId('r')]
  store.addReport(workspace, report(told, [turn]))
  store.addReport(workspace, report(empty, []))
  expect(await makePusher().run()).toMatchObject({ pushed: 1, reports: 1, error: null })
  expect([...service.reports.entries()]).toMatchObject([
    [told, { restore: told, workspace: workspace.id, target: turn }],
  ])
  expect(store.log.listReportsToPush()).toEqual([])
})

describe('heads', () => {
  const headOf = (workspace: Workspace, number: number): HeadItem => {
    const { seq, sha256 } = store.log.findHead(workspace.id) ?? { seq: 0, sha256: null }
    return { workspace: workspace.id, seq, sha256, number, at: new Date().toISOString() }
  }

  it('go before the turns, signed, once, and only the latest of a workspace', async () => {
    const workspace = store.addWorkspace()
    store.log.putHeadToPush(headOf(workspace, 1))
    store.addTurn(workspace, { 'a.txt': 'one\n' })
    const latest = headOf(workspace, 2)
    store.log.putHeadToPush(latest)
    const pusher = makePusher()
    expect(await pusher.run()).toMatchObject({ pushed: 1, error: null })
    expect(service.heads).toEqual([latest])
    const order = service.received.map(
      ({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`,
    )
    expect(order.indexOf('PUT head')).toBeLessThan(order.indexOf('POST blobs/missing'))
    await pusher.run()
    expect(service.heads.length).toBe(1)
  })

  it('wait for a service that is away, and hold nothing up at one that does not know them', async () => {
    const workspace = store.addWorkspace()
    const { turn } = store.addTurn(workspace, { 'a.txt': 'one\n' })
    store.log.putHeadToPush(headOf(workspace, 2))
    const pusher = makePusher()
    service.state.fault = () => 'cut'
    expect((await pusher.run()).error?.code).toBe('SERVER_UNREACHABLE')
    expect(store.log.listHeadsToPush().length).toBe(1)
    service.state.fault = ({ path }) =>
      path.endsWith('/head') ? { status: 404, code: 'NOT_FOUND' } : undefined
    expect(await pusher.run()).toMatchObject({ pushed: 1, error: null })
    expect([...service.turns.keys()]).toEqual([turn])
    expect(store.log.listHeadsToPush()).toEqual([])
  })

  it('that contradict what the service knows are said to the person, and not said to the service again', async () => {
    const workspace = store.addWorkspace()
    store.addTurn(workspace, { 'a.txt': 'one\n' })
    store.log.putHeadToPush(headOf(workspace, 2))
    const pusher = makePusher()
    service.state.fault = ({ path }) =>
      path.endsWith('/head') ? { status: 409, code: 'CHAIN_BROKEN' } : undefined
    expect(await pusher.run()).toMatchObject({ pushed: 1, error: { code: 'CHAIN_BROKEN' } })
    expect(findLastError(store.log)?.code).toBe('CHAIN_BROKEN')
    expect(pathsOf('PUT', /head$/).length).toBe(1)
    expect(await pusher.run()).toMatchObject({ error: null })
    expect(pathsOf('PUT', /head$/).length).toBe(1)
  })
})
