import { createHash, createPublicKey, verify } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import { parseEnvelopeHeader, signedPrefix, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { endTurn } from '#capture/turns.ts'
import { CaptureRig, entryOf, outline } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('turns')
  for (const name of ['a', 'b', 'c']) rig.write(name, `${name}0`)
  await rig.init()
})
afterEach(() => rig.dispose())

const turns = () => rig.deps.log.listTurns(rig.workspace.id)
const kinds = () => turns().map(({ kind, endReason }) => `${kind} ${endReason}`)

test('begin with the same key is the same turn and looks at nothing', async () => {
  const first = await rig.beginFully({ key: 'k1' })
  rig.write('a', 'a1')
  const again = await rig.beginFully({ key: 'k1' })
  expect(again).toMatchObject({ turn: first.turn, number: 1, partial: false, statted: 0, hashed: 0 })
  await rig.end('s1', 'k1')
  expect(outline(await rig.manifest(first.turn))).toEqual(['a: file → file'])
})

test('another key, or none, closes the session’s open turn as superseded', async () => {
  const first = await rig.begin({ key: 'k1' })
  rig.write('a', 'a1')
  const second = await rig.begin({ key: 'k2' })
  rig.write('b', 'b1')
  const third = await rig.begin()
  await rig.end()
  expect(kinds()).toEqual(['agent superseded', 'agent superseded', 'agent completed'])
  // A turn that never had an event keeps everything.
  const manifest = await rig.manifest(first)
  expect(manifest).toMatchObject({ endReason: 'superseded', lateEnd: false })
  expect(entryOf(manifest, 'a').source).toBe('unknown')
  expect(outline(await rig.manifest(second))).toEqual(['b: file → file'])
  expect(outline(await rig.manifest(third))).toEqual([])
})

test('overlaps are the turns that were open meanwhile, not those that began when this one was closed', async () => {
  const first = await rig.begin({ key: 'k1' })
  const beside = await rig.begin({ session: 's2' })
  const second = await rig.begin({ key: 'k2' })
  await rig.end('s2')
  const third = await rig.begin({ session: 's2' })
  await rig.end('s1', 'k2')
  await rig.end('s2')
  // All of them are signed by now, the first long after the others had begun.
  expect((await rig.manifest(first)).overlaps).toEqual([beside])
  expect((await rig.manifest(beside)).overlaps).toEqual([first, second])
  expect((await rig.manifest(second)).overlaps).toEqual([beside, third])
  expect((await rig.manifest(third)).overlaps).toEqual([second])
})

test('what changed after the last event of a turn that we close is nobody’s; what a tool named is the turn’s', async () => {
  const first = await rig.begin({ key: 'k1' })
  await rig.event({ type: 'tool.before', key: 'k1', tool: 'Bash', command: 'sed -i s/a/b/ a' })
  rig.write('a', 'by the command')
  // Later than what the command wrote.
  rig.aheadMs = 1000
  await rig.event({ type: 'tool.after', key: 'k1', tool: 'Edit', paths: ['c'] })
  const { lastEventMs } = rig.deps.log.findTurn(first) ?? {}
  if (typeof lastEventMs !== 'number') throw new Error('no event was noted')
  await waitUntil(() => Date.now() > lastEventMs + 50)
  rig.write('b', 'by a person')
  rig.write('c', 'a late writer of the tool')
  await rig.begin({ key: 'k2' })
  await rig.end('s1', 'k2')

  const manifest = await rig.manifest(first)
  expect(manifest.lateEnd).toBe(true)
  expect(manifest.entries.map(({ path, source }) => `${path} ${source}`)).toEqual(['a shell', 'c tool'])
  const outside = turns().find(({ kind }) => kind === 'outside')
  expect(outline(await rig.manifest(outside?.turn as TurnId))).toEqual(['b: file → file'])
})

test('a deletion by a person after the last event is not the turn’s either', async () => {
  const first = await rig.begin({ key: 'k1' })
  await rig.event({ type: 'tool.after', key: 'k1', tool: 'Read' })
  const now = Date.now()
  await waitUntil(() => Date.now() > now + 50)
  rmSync(rig.at('b'))
  await rig.begin({ key: 'k2' })
  expect(outline(await rig.manifest(first))).toEqual([])
  expect(kinds()).toEqual(['agent superseded', 'outside null', 'agent null'])
})

test('end without an open turn of that key is an error and changes nothing', async () => {
  await expect(rig.end()).rejects.toMatchObject({ code: 'NO_OPEN_TURN' })
  await rig.begin({ key: 'k1' })
  await expect(rig.end('s1', 'k2')).rejects.toMatchObject({ code: 'NO_OPEN_TURN' })
  await expect(rig.end('s2')).rejects.toMatchObject({ code: 'NO_OPEN_TURN' })
  await rig.end('s1', 'k1')
  await expect(rig.end('s1', 'k1')).rejects.toMatchObject({ code: 'NO_OPEN_TURN' })
  expect(kinds()).toEqual(['agent completed'])
})

test('begin, or a tool event, with the key of a closed turn opens one that continues it', async () => {
  const first = await rig.begin({ key: 'k1' })
  await rig.end('s1', 'k1')
  const second = await rig.begin({ key: 'k1' })
  expect(second).not.toBe(first)
  await rig.end('s1', 'k1')
  const third = await rig.event({ type: 'tool.before', key: 'k1', tool: 'Edit', paths: ['a'] })
  rig.write('a', 'a1')
  await rig.end('s1', 'k1')
  expect(new Set([first, second, third]).size).toBe(3)
  const manifest = await rig.manifest(third as TurnId)
  expect(manifest.lateStart).toBe(true)
  expect(entryOf(manifest, 'a').source).toBe('tool')
})

test('what changed between turns is an outside turn; it is in no turn of an agent', async () => {
  await rig.turn(() => rig.write('a', 'agent'))
  rig.write('b', 'person')
  rmSync(rig.at('c'))
  const second = await rig.turn(() => rig.write('a', 'agent again'))
  expect(outline(second)).toEqual(['a: file → file'])
  expect(turns().map(({ number, kind }) => `${number} ${kind}`)).toEqual(['1 agent', '2 outside', '3 agent'])
  const outside = await rig.manifest(turns()[1]?.turn as TurnId)
  expect(outline(outside)).toEqual(['b: file → file', 'c: file → absent'])
  expect(outside).toMatchObject({ session: null, agent: null, endReason: null })
})

test('with two turns open, a tool event tells whose a change is; without one it is shared', async () => {
  const a = await rig.begin({ session: 'A' })
  const b = await rig.begin({ session: 'B' })
  await rig.event({ session: 'A', type: 'tool.after', tool: 'Edit', paths: ['a'] })
  await rig.event({ session: 'B', type: 'tool.after', tool: 'Edit', paths: ['b', 'made/file'] })
  for (const name of ['a', 'b', 'c']) rig.write(name, 'new')
  rig.write('made/file')
  await rig.end('A')
  rig.write('a', 'B alone is open')
  await rig.end('B')

  const [first, second] = [await rig.manifest(a), await rig.manifest(b)]
  const sources = (m: typeof first) => m.entries.map(({ path, source }) => `${path} ${source}`)
  expect(sources(first)).toEqual(['a tool', 'c shared'])
  expect(sources(second)).toEqual(['a unknown', 'b tool', 'c shared', 'made tool', 'made/file tool'])
  expect(first.overlaps).toEqual([b])
  expect(second.overlaps).toEqual([a])
  const shared = rig.deps.log.listChanges(rig.workspace.id, ['c'])
  expect(shared).toMatchObject([{ source: 'shared', sharedBy: [a, b], session: null }])
})

test('a path that several scans of one turn saw change has its steps', async () => {
  const a = await rig.begin({ session: 'A' })
  rig.write('a', 'one')
  await rig.begin({ session: 'B' })
  await rig.end('B')
  rig.write('a', 'two')
  await rig.end('A')
  const entry = entryOf(await rig.manifest(a), 'a')
  expect([rig.read(entry, 'before'), rig.read(entry, 'after')]).toEqual(['a0', 'two'])
  expect(entry.steps).toHaveLength(2)
  expect(entry.steps?.[0]?.after).toEqual(entry.steps?.[1]?.before)
  expect(entry.scan).toBe(entry.steps?.[0]?.scan)
})

test('session.end closes as lost, turn.end as completed; news of an end of nothing opens nothing', async () => {
  expect(await rig.event({ type: 'turn.end' })).toBeNull()
  await rig.event({ type: 'turn.start', key: 'k' })
  await rig.event({ type: 'turn.end', key: 'k' })
  await rig.event({ type: 'turn.start', session: 's2' })
  await rig.event({ type: 'session.end', session: 's2' })
  expect(kinds()).toEqual(['agent completed', 'agent lost'])
  expect((await rig.manifest(turns()[0]?.turn as TurnId)).lateStart).toBe(false)
})

test('session.end closes whatever its session has open, also under another key, and no other session', async () => {
  const open = await rig.begin({ key: 'k1' })
  const other = await rig.begin({ session: 's2', key: 'k1' })
  rig.write('a', 'a1')
  expect(await rig.event({ type: 'turn.end', key: 'k9' }), 'an end of a turn that is not open').toBeNull()
  expect(await rig.event({ type: 'session.end', key: 'k9' })).toBe(open)
  expect(rig.deps.log.listOpenTurns(rig.workspace.id).map(({ turn }) => turn)).toEqual([other])
  expect(rig.deps.log.findTurn(open)).toMatchObject({ endReason: 'lost' })
})

test('when the agent waits no longer, the turn is partial and says what it did not look at', async () => {
  // Files as young as the look that saw them are read again by the next; after this one only the two are due.
  await vi.waitFor(() => expect(Date.now() - statSync(rig.at('c')).ctimeMs).toBeGreaterThan(100))
  await rig.turn(() => undefined)
  rig.write('late', 'never read')
  rig.write('a', 'changed before')
  const begun = await rig.beginFully({ deadlineMs: 0 })
  expect(begun.partial).toBe(true)
  await rig.end()
  const manifest = await rig.manifest(begun.turn)
  expect(manifest.coverage).toMatchObject({
    complete: false,
    reason: '2 file(s) were not read in the time given',
  })
  // Never `absent` before, and never the old bytes: either would let a restore destroy what was there.
  expect(outline(manifest)).toEqual(['a: budget → file', 'late: budget → file'])
})

test('envelopes are signed and chained; one flipped byte shows', async () => {
  await rig.turn(() => rig.write('a', '1'))
  await rig.turn(() => rig.write('a', '2'))
  const items = rig.deps.log.listOutbox(rig.workspace.id)
  expect(items.map(({ seq }) => seq)).toEqual([1, 2])
  const { publicKey } = rig.deps.identity()
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  let prev: string | null = null
  for (const item of items) {
    const envelope = zstdDecompressSync(rig.deps.log.getEnvelopeZstd(item.turn))
    const header = parseEnvelopeHeader(envelope)
    if (header === null) throw new Error('no envelope')
    const body = envelope.subarray(header.bodyOffset)
    const signed = Buffer.concat([Buffer.from(signedPrefix('turn', header.machine, body.length)), body])
    const signature = Buffer.from(header.signature, 'base64url')
    expect(verify(null, signed, key, signature)).toBe(true)
    signed[signed.length - 2] = (signed.at(-2) ?? 0) ^ 1
    expect(verify(null, signed, key, signature)).toBe(false)
    expect([item.prev, rig.deps.log.getManifest(item.turn).prev]).toEqual([prev, prev])
    expect(createHash('sha256').update(envelope).digest('hex')).toBe(item.sha256)
    prev = item.sha256
  }
  expect(rig.deps.log.findHead(rig.workspace.id)).toEqual({ seq: 2, sha256: prev })
})

test('a checkpoint has no changes of its own; what it found goes where it belongs', async () => {
  rig.write('a', 'person')
  const { json } = rig.run(['checkpoint', 'b', '--label', 'before the move', '--json'])
  expect(json).toMatchObject({ label: 'before the move', paths: ['b'] })
  expect(kinds()).toEqual(['outside null', 'checkpoint completed'])
  expect((await rig.manifest(json.turn as TurnId)).entries).toEqual([])
})

test('what nobody waits for any more is not begun and not ended', async () => {
  const confirm = () => {
    throw new Error('nobody waits')
  }
  await expect(rig.begin({ confirm })).rejects.toThrow('nobody waits')
  expect(turns()).toEqual([])
  rig.write('a', 'by a person')
  const turn = await rig.begin()
  rig.write('b', 'by the agent')
  const request = { session: 's1', key: null, reason: 'completed', lastMessage: null, confirm } as const
  const end = rig.deps.leases.run(rig.workspace, 'capture', (lease) =>
    endTurn(rig.deps, lease, rig.workspace, request),
  )
  await expect(end).rejects.toThrow('nobody waits')
  expect(rig.deps.log.findTurn(turn)).toMatchObject({ isOpen: true })
  await rig.end()
  expect(outline(await rig.manifest(turn))).toEqual(['b: file → file'])
})

test('a clock that stands still gives each turn its own id and number', async () => {
  const now = Date.now()
  rig.deps.clock.nowMs = () => now
  const ids = []
  for (let i = 0; i < 5; i++) ids.push((await rig.turn(() => rig.write('a', `${i}`))).turn)
  expect(new Set(ids).size).toBe(5)
  expect(turns().map(({ number }) => number)).toEqual([1, 2, 3, 4, 5])
})

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setImmediate(done))
}
