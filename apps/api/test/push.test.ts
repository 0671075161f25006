import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import type { WorkspaceId } from '@turnback/core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { expectProblem } from './set-up/call.ts'
import {
  entryOf,
  type Frame,
  fileState,
  makePack,
  newId,
  plainId,
  sealedFrame,
  sha256,
  TestLog,
  type TestMachine,
  zstdFrame,
} from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let machine: TestMachine
let workspace: WorkspaceId
let log: TestLog

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
  machine = await stack.machine(ada)
})
afterAll(() => stack.stop())
beforeEach(async () => {
  workspace = await machine.workspace()
  log = new TestLog(machine, workspace)
})

const missing = async (ids: string[], of = workspace) =>
  (await machine.call('POST', `/v1/workspaces/${of}/blobs/missing`, { body: { ids } })).json.missing
const unfinished = () => readdirSync(join(stack.folder, 'objects/unfinished'))

describe('packs', () => {
  test('carry blobs, which are then no longer missing; sending one again changes nothing', async () => {
    const frames: Frame[] = [zstdFrame(randomBytes(50_000)), sealedFrame(), zstdFrame('')]
    const raw = randomBytes(300)
    frames.push({ id: plainId(raw), codec: 'raw', sizeBytes: raw.length, stored: raw })
    const ids = frames.map((frame) => frame.id)
    const pack = makePack(frames)
    const before = await missing(ids)
    for (let n = 0; n < 2; n++) {
      const answer = await machine.putPack(workspace, pack)
      expect(answer.json).toEqual({ blobs: frames.length, bytes: pack.length })
    }
    expect(before).toContain(ids[0])
    expect(await missing(ids)).toEqual([])
    expect(unfinished()).toEqual([])
  })

  const good = () => makePack([zstdFrame('one file\n'), zstdFrame('another\n')])
  const frameOf = (part: Partial<Frame>) => makePack([{ ...zstdFrame('content\n'), ...part }])
  const bomb = zstdCompressSync(Buffer.alloc(60_000_000))

  test.each<[string, () => Buffer, number, 'PACK_INVALID' | 'BLOB_HASH_MISMATCH' | 'PAYLOAD_TOO_LARGE']>([
    ['cut off in a frame', () => good().subarray(0, -3), 422, 'PACK_INVALID'],
    ['cut off in a header', () => makePack([]).subarray(0, 9), 422, 'PACK_INVALID'],
    ['without a frame', () => makePack([]), 422, 'PACK_INVALID'],
    ['that is no pack', () => Buffer.from('<html>nothing of the kind</html>'), 422, 'PACK_INVALID'],
    ['with something behind it', () => Buffer.concat([good(), Buffer.from('x')]), 422, 'PACK_INVALID'],
    [
      'whose frame has something behind its zstd',
      () => frameOf({ stored: Buffer.concat([zstdFrame('content\n').stored, Buffer.from('junk')]) }),
      422,
      'PACK_INVALID',
    ],
    ['that unpacks to more than it says', () => frameOf({ stored: bomb, sizeBytes: 8 }), 422, 'PACK_INVALID'],
    ['that unpacks to less than it says', () => frameOf({ sizeBytes: 9 }), 422, 'PACK_INVALID'],
    [
      'with other bytes under an id',
      () => frameOf({ id: plainId('something else') }),
      422,
      'BLOB_HASH_MISMATCH',
    ],
    [
      'with a frame above the limit',
      () => frameOf({ sizeBytes: 65 * 1024 * 1024 }),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    [
      'with a sealed frame above the limit and its padding',
      () => makePack([{ ...sealedFrame(), sizeBytes: 66 * 1024 * 1024 }]),
      413,
      'PAYLOAD_TOO_LARGE',
    ],
    ['with a codec that never travels', () => frameOf({ codec: 'vault' }), 422, 'PACK_INVALID'],
    ['with a delta', () => frameOf({ codec: 'delta' }), 422, 'PACK_INVALID'],
    ['with a plain blob in an age file', () => frameOf({ codec: 'age' }), 422, 'PACK_INVALID'],
    [
      'with a sealed blob as it is',
      () => makePack([{ ...sealedFrame(), codec: 'raw' }]),
      422,
      'PACK_INVALID',
    ],
    [
      'with a sealed blob that is no age file',
      () => makePack([{ ...sealedFrame(), stored: randomBytes(400) }]),
      422,
      'PACK_INVALID',
    ],
  ])('%s are refused, and nothing of them is kept', async (_what, make, status, code) => {
    const before = await stack.database.sql`select count(*)::int as n from blobs`
    expectProblem(await machine.putPack(workspace, make()), status, code)
    expect(await stack.database.sql`select count(*)::int as n from blobs`).toEqual(before)
    expect(unfinished()).toEqual([])
  })

  test('take the largest file that is captured, sealed and padded', async () => {
    const frame = { ...sealedFrame(), sizeBytes: 64 * 1024 * 1024 + 64 * 1024 }
    expect((await machine.putPack(workspace, makePack([frame]))).status).toBe(200)
  })

  test('any flipped bit is found', async () => {
    const pack = good()
    for (let n = 0; n < pack.length; n += 7) {
      const bad = Buffer.from(pack)
      bad[n] = (bad[n] ?? 0) ^ 0x10
      const answer = await machine.putPack(workspace, bad)
      expect([413, 422]).toContain(answer.status)
    }
    expectProblem(await machine.putPack(workspace, pack, sha256('another name')), 422, 'BLOB_HASH_MISMATCH')
    expect(unfinished()).toEqual([])
  })

  test('a body that is not what was signed is refused', async () => {
    const pack = makePack([zstdFrame(randomBytes(20))])
    const url = `/v1/workspaces/${workspace}/packs/${sha256(pack)}`
    const authorization = machine.authorization('PUT', url, Buffer.from('something else'))
    const headers = { authorization, 'content-type': 'application/vnd.turnback.pack' }
    expectProblem(await machine.call('PUT', url, { body: pack, headers }), 401, 'SIGNATURE_INVALID')
  })

  test('a body above the limit is not read to its end', async () => {
    const pack = Buffer.alloc(81 * 1024 * 1024)
    expectProblem(await machine.putPack(workspace, pack), 413, 'PAYLOAD_TOO_LARGE')
  })

  test('a refusal is in the audit, by code', async () => {
    await machine.putPack(workspace, frameOf({ sizeBytes: 9 }))
    const rows = await stack.database.sql`
      select facts from audit_events where action = 'push.refused' and objects->>'workspace' = ${workspace}`
    expect(rows).toEqual([{ facts: { code: 'PACK_INVALID' } }])
  })
})

describe('what is missing', () => {
  test('tells nothing of other projects, nor of other workspaces’ sealed blobs', async () => {
    const [plain, sealed] = [zstdFrame(randomBytes(30)), sealedFrame()]
    await machine.putPack(workspace, makePack([plain, sealed]))
    const sibling = await machine.workspace({ name: 'sibling' })
    expect(await missing([plain.id, sealed.id], sibling)).toEqual([sealed.id])
    const elsewhere = await machine.workspace({ name: 'else', project: 'Else' })
    expect(await missing([plain.id, sealed.id], elsewhere)).toEqual([plain.id, sealed.id])
    const bob = await stack.person('Bob')
    const foreign = await stack.machine(bob)
    const answer = await foreign.call('POST', `/v1/workspaces/${workspace}/blobs/missing`, {
      body: { ids: [plain.id] },
    })
    expectProblem(answer, 404, 'WORKSPACE_NOT_FOUND')
  })
})

describe('turns', () => {
  test('are stored as they came, projected and counted; the same again is not new', async () => {
    await machine.putPack(workspace, makePack([zstdFrame('old\n'), zstdFrame('new\n')]))
    const entries = [
      entryOf('a.txt', 'old\n', 'new\n'),
      entryOf('b.txt', null, 'new\n'),
      entryOf('c.txt', 'old\n', null),
      { ...entryOf('d', null, null), after: { kind: 'dir', mode: 0o755 } as const },
    ]
    const skipped = [{ path: 'node_modules', reason: 'excluded-directory' as const, count: 9 }]
    const { manifest, envelope, answer } = await log.push({
      entries,
      skipped,
      prompt: 'fix \u0000 it \ud800',
    })
    expect(answer.json).toEqual({ turn: manifest.turn, seq: 1, sha256: sha256(envelope), isNew: true })
    const again = await machine.putTurn(manifest.turn, envelope)
    expect(again.json).toEqual({ ...answer.json, isNew: false })
    const seen = await ada.call('GET', `/v1/turns/${manifest.turn}`)
    expect(seen.json.summary).toMatchObject({
      created: 1,
      changed: 1,
      deleted: 1,
      skipped: 1,
      sealed: 0,
      undone: 'no',
      prompt: 'fix \ufffd it \ufffd',
    })
    expect(seen.json.envelopeSha256).toBe(sha256(envelope))
    const [row] = await stack.database.sql`select bytes from envelopes where turn = ${manifest.turn}`
    expect(Buffer.compare(row?.bytes, zstdCompressSync(envelope))).toBe(0)
    const [count] = await stack.database.sql`select turn_count from workspaces where id = ${workspace}`
    expect(Number(count?.turn_count)).toBe(1)
  })

  test('wait for their blobs, plain or sealed, in entries, steps and what a restore pushed', async () => {
    const sealed = sealedFrame()
    const state = { ...fileState('x'), blob: sealed.id }
    const step = { scan: 1, before: fileState('stepped over'), after: state, source: 'tool' as const }
    const entry = { ...entryOf('.env', 'gone', null), after: state, sealed: true, steps: [step] }
    const first = await log.push({ entries: [entry] })
    expectProblem(first.answer, 409, 'BLOB_MISSING')
    const named = [plainId('gone'), sealed.id, plainId('stepped over')]
    expect(new Set(first.answer.json.details.blobs)).toEqual(new Set(named))
    await machine.putPack(workspace, makePack([zstdFrame('gone'), zstdFrame('stepped over'), sealed]))
    expect((await machine.putTurn(first.manifest.turn, first.envelope)).status).toBe(200)
  })

  test('form a chain: gaps, forks and used numbers are refused', async () => {
    const one = await log.push()
    expect(one.answer.status).toBe(200)
    const fork = machine.envelope('turn', log.manifest({ seq: 1, prev: null }))
    const forkTurn = JSON.parse(fork.subarray(fork.indexOf(10) + 1).toString()).turn
    expectProblem(await machine.putTurn(forkTurn, fork), 409, 'CHAIN_BROKEN')
    expectProblem((await log.push({ seq: 3 })).answer, 409, 'CHAIN_BROKEN')
    const wrong = await log.push({ prev: sha256('another history') })
    expectProblem(wrong.answer, 409, 'CHAIN_BROKEN')
    expect(wrong.answer.json.details.head).toEqual({ seq: 1, sha256: sha256(one.envelope) })
    const rewritten = machine.envelope('turn', { ...one.manifest, prompt: 'something else' })
    expectProblem(await machine.putTurn(one.manifest.turn, rewritten), 409, 'TURN_CONFLICT')
    expect((await log.push()).answer.status).toBe(200)
  })

  test('sent at the same moment, one of two that follow the same is taken', async () => {
    const both = [log.manifest(), log.manifest()].map((manifest) => ({
      manifest,
      envelope: machine.envelope('turn', manifest),
    }))
    const answers = await Promise.all(
      both.map(({ manifest, envelope }) => machine.putTurn(manifest.turn, envelope)),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409])
  })

  test('that somebody else signed, or as something else, are refused', async () => {
    const manifest = log.manifest()
    const other = await stack.machine(ada, 'desk')
    expectProblem(
      await machine.putTurn(manifest.turn, other.envelope('turn', manifest)),
      401,
      'SIGNATURE_INVALID',
    )
    expectProblem(
      await machine.putTurn(manifest.turn, machine.envelope('plan', manifest)),
      401,
      'SIGNATURE_INVALID',
    )
    const tampered = Buffer.from(machine.envelope('turn', manifest).toString().replace('do it', 'do no'))
    expectProblem(await machine.putTurn(manifest.turn, tampered), 401, 'SIGNATURE_INVALID')
    expectProblem(
      await other.putTurn(manifest.turn, other.envelope('turn', { ...manifest, machine: other.id })),
      404,
      'WORKSPACE_NOT_FOUND',
    )
  })

  test.each<[string, object]>([
    ['another turn’s id', { turn: newId('t') }],
    ['another machine’s id', { machine: newId('m') }],
    ['a path out of the root', { entries: [{ ...entryOf('a', null, null), path: '../../etc/passwd' }] }],
    ['a path into .git', { entries: [{ ...entryOf('a', null, null), path: 'sub/.GIT/hooks/x' }] }],
    ['a path twice', { entries: [entryOf('a', null, null), entryOf('a', null, null)] }],
    ['an unknown field', { extra: 1 }],
    ['another project', { project: newId('p') }],
  ])('with %s are refused', async (_what, part) => {
    const { turn } = log.manifest()
    const envelope = machine.envelope('turn', { ...log.manifest(), turn, ...part })
    expectProblem(await machine.putTurn(turn, envelope), 422, 'MANIFEST_INVALID')
  })

  test('that are no zstd, or unpack without end, are refused', async () => {
    const url = `/v1/turns/${newId('t')}`
    const headers = { 'content-type': 'application/vnd.turnback.envelope+zstd' }
    expectProblem(
      await machine.call('PUT', url, { body: Buffer.from('not compressed'), headers }),
      422,
      'MANIFEST_INVALID',
    )
    const trailing = Buffer.concat([zstdCompressSync(Buffer.from('x')), Buffer.from('junk')])
    expectProblem(await machine.call('PUT', url, { body: trailing, headers }), 422, 'MANIFEST_INVALID')
    expectProblem(
      await machine.call('PUT', url, { body: zstdCompressSync(Buffer.from('{}')), headers }),
      401,
      'SIGNATURE_INVALID',
    )
    const wrongType = { 'content-type': 'text/plain' }
    expectProblem(
      await machine.call('PUT', url, { body: Buffer.from('x'), headers: wrongType }),
      400,
      'VALIDATION_FAILED',
    )
  })
})

describe('stubs', () => {
  test('stand for an envelope so that the chain goes on, and give way to it', async () => {
    const parked = log.manifest()
    const envelope = machine.envelope('turn', parked)
    const stub = machine.envelope('stub', {
      turn: parked.turn,
      workspace,
      seq: 1,
      prev: null,
      sha256: sha256(envelope),
      reason: 'parked',
    })
    expect((await machine.putTurn(parked.turn, stub)).json).toMatchObject({ isNew: true })
    expect((await machine.putTurn(parked.turn, stub)).json).toMatchObject({ isNew: false })
    expectProblem(await ada.call('GET', `/v1/turns/${parked.turn}`), 404, 'TURN_NOT_FOUND')
    log.advance(1, sha256(envelope))
    const next = log.manifest()
    const nextStub = {
      turn: next.turn,
      seq: 2,
      prev: sha256(envelope),
      sha256: sha256('private'),
      reason: 'private',
    }
    expect((await machine.putTurn(next.turn, machine.envelope('stub', nextStub))).status).toBe(200)
    log.advance(2, sha256('private'))
    expect((await log.push()).answer.status).toBe(200)
    const other = machine.envelope('turn', { ...parked, prompt: 'not what was promised' })
    expectProblem(await machine.putTurn(parked.turn, other), 409, 'TURN_CONFLICT')
    expect((await machine.putTurn(parked.turn, envelope)).json).toMatchObject({ isNew: true })
    const seen = await ada.call('GET', `/v1/turns/${parked.turn}`)
    expect(seen.json.summary.number).toBe(1)
    expect(seen.json.nextTurn).not.toBeNull()
  })
})

describe('undone marks', () => {
  const restoreOf = (turn: `t_${string}`, target: `t_${string}`, part: object) => ({
    kind: 'restore' as const,
    turn,
    restore: {
      id: newId('r'),
      of: [],
      scope: 'from-turn' as const,
      exact: false,
      paths: null,
      target,
      takenBack: null,
      status: 'done' as const,
      scan: 9,
      popped: [],
      putBack: [],
      pushed: [],
      ...part,
    },
  })
  const markOf = async (turn: string) => (await ada.call('GET', `/v1/turns/${turn}`)).json.summary.undone

  test('follow the restores, and those that take one back', async () => {
    const work = (await log.push()).manifest.turn
    const byPath = newId('t')
    await log.push(restoreOf(byPath, work, { of: [work], paths: ['a'] }))
    expect(await markOf(work)).toBe('partly')
    const whole = newId('t')
    await log.push(restoreOf(whole, work, { of: [work] }))
    expect(await markOf(work)).toBe('yes')
    const back = newId('t')
    await log.push(restoreOf(back, whole, { takenBack: whole }))
    expect(await markOf(work)).toBe('partly')
    await log.push(restoreOf(newId('t'), back, { takenBack: back }))
    expect(await markOf(work)).toBe('yes')
    const failed = newId('t')
    const next = (await log.push()).manifest.turn
    await log.push(restoreOf(failed, next, { of: [next], status: 'failed' }))
    expect(await markOf(next)).toBe('no')
  })
})

describe('an announced head', () => {
  const putHead = (seq: number, sha: string | null, part: object = {}, as = machine) =>
    as.putEnvelope(
      `/v1/workspaces/${workspace}/head`,
      as.envelope('head', {
        workspace,
        seq,
        sha256: sha,
        number: seq + 1,
        at: new Date().toISOString(),
        ...part,
      }),
    )
  /** Two turns that follow each other, signed and not sent. */
  function makeTwo() {
    const one = log.manifest()
    const first = { manifest: one, envelope: machine.envelope('turn', one) }
    log.advance(1, sha256(first.envelope))
    const two = log.manifest()
    return [first, { manifest: two, envelope: machine.envelope('turn', two) }] as const
  }
  const put = ({ manifest, envelope }: { manifest: { turn: string }; envelope: Buffer }) =>
    machine.putTurn(manifest.turn, envelope)
  const refusals = () =>
    stack.database.sql`select facts from audit_events where action = 'push.refused'
      and (objects->>'workspace' = ${workspace} or facts->>'isAnnouncedOtherwise' = 'true') order by id`

  test('is held against what comes later: the turns that were there then are taken', async () => {
    const two = makeTwo()
    expect((await putHead(2, sha256(two[1].envelope))).json).toEqual({
      workspace,
      seq: 2,
      sha256: sha256(two[1].envelope),
    })
    expect((await putHead(2, sha256(two[1].envelope))).status).toBe(200)
    for (const turn of two) expect((await put(turn)).status).toBe(200)
    expect((await putHead(1, sha256(two[0].envelope))).status).toBe(200)
  })

  // The same with and without the head: what refuses the altered log is the head, and nothing else.
  test.each([
    ['refused once it was announced', true, 409],
    ['taken when it was not: the signature and the chain are in order', false, 200],
  ])('an earlier turn that was altered and signed anew is %s', async (_what, isAnnounced, status) => {
    const [first, second] = makeTwo()
    if (isAnnounced) expect((await putHead(2, sha256(second.envelope))).status).toBe(200)
    const altered = { ...first.manifest, prompt: 'nothing to see here' }
    const one = { manifest: altered, envelope: machine.envelope('turn', altered) }
    const relinked = { ...second.manifest, prev: sha256(one.envelope) }
    const two = { manifest: relinked, envelope: machine.envelope('turn', relinked) }
    expect((await put(one)).status).toBe(200)
    const before = await refusals()
    const answer = await put(two)
    expect(answer.status).toBe(status)
    if (!isAnnounced) return
    expectProblem(answer, 409, 'CHAIN_BROKEN')
    expect(answer.json.details.announced.sha256).toBe(sha256(second.envelope))
    expect((await refusals()).length).toBe(before.length + 1)
    const stub = { turn: relinked.turn, workspace, seq: 2, prev: relinked.prev, reason: 'private' as const }
    const hidden = machine.envelope('stub', { ...stub, sha256: sha256(two.envelope) })
    expectProblem(await machine.putTurn(relinked.turn, hidden), 409, 'CHAIN_BROKEN')
    const honest = machine.envelope('stub', { ...stub, sha256: sha256(second.envelope) })
    expect((await machine.putTurn(relinked.turn, honest)).status).toBe(200)
  })

  test('that says otherwise than what was sent or said before is refused, and in the audit', async () => {
    const { envelope } = await log.push()
    expect((await putHead(1, sha256(envelope))).status).toBe(200)
    expectProblem(await putHead(1, sha256('another history')), 409, 'CHAIN_BROKEN')
    expect((await putHead(5, sha256('to come'))).status).toBe(200)
    expectProblem(await putHead(5, sha256('something else')), 409, 'CHAIN_BROKEN')
    expect(await refusals()).toEqual(
      expect.arrayContaining([
        { facts: { code: 'CHAIN_BROKEN', seq: 1, isHead: true } },
        { facts: { code: 'CHAIN_BROKEN', seq: 5, isHead: true } },
      ]),
    )
  })

  test('of an empty chain is taken; one that is not signed as a head, or of others, is not', async () => {
    expect((await putHead(0, null)).status).toBe(200)
    const body = { workspace, seq: 0, sha256: null, number: 1, at: new Date().toISOString() }
    const url = `/v1/workspaces/${workspace}/head`
    expectProblem(await machine.putEnvelope(url, machine.envelope('plan', body)), 401, 'SIGNATURE_INVALID')
    const flipped = Buffer.from(machine.envelope('head', body).toString().replace('"number":1', '"number":2'))
    expectProblem(await machine.putEnvelope(url, flipped), 401, 'SIGNATURE_INVALID')
    expectProblem(await putHead(1, null), 400, 'VALIDATION_FAILED')
    const sibling = await machine.workspace({ name: 'sibling' })
    expectProblem(await putHead(0, null, { workspace: sibling }), 400, 'VALIDATION_FAILED')
    const foreign = await stack.machine(await stack.person('Bo'))
    expectProblem(await putHead(0, null, {}, foreign), 404, 'WORKSPACE_NOT_FOUND')
    expectProblem(await machine.putEnvelope(url, Buffer.alloc(5_000)), 413, 'PAYLOAD_TOO_LARGE')
  })
})

describe('a turn that unpacks to more than it should', () => {
  const bomb = (stated: number) => {
    const frame = zstdCompressSync(Buffer.alloc(60_000_000))
    frame.writeUInt32LE(stated, 6)
    return frame
  }
  const put = (body: Uint8Array) =>
    machine.call('PUT', `/v1/turns/${newId('t')}`, {
      body,
      headers: { 'content-type': 'application/vnd.turnback.envelope+zstd' },
    })

  test('is refused before it is unpacked when it says so, and while it is unpacked when it lies', async () => {
    expectProblem(await put(bomb(600 * 1024 * 1024)), 413, 'PAYLOAD_TOO_LARGE')
    expectProblem(await put(bomb(1000)), 422, 'MANIFEST_INVALID')
    // Nothing holds the room that the refused ones had.
    expect((await log.push()).answer.status).toBe(200)
  })
})
