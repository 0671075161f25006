import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSealed } from '@turnback/core'
import { SeededRandom } from '@turnback/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gcParts } from '#cli/gc-parts.ts'
import { openDeps } from '#deps.ts'
import { collectGarbage, type GcParts } from '#store/gc.ts'
import { PackWriter } from '#store/pack-writer.ts'
import { verifyBlobs } from '#store/verify-blobs.ts'
import { openRig, type Rig } from './support/restore-rig.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
  const random = new SeededRandom(3)
  const words = Array.from({ length: 400 }, () => random.below(1e9).toString(36))
  const text = (n: number) => Array.from({ length: n }, () => random.pick(words)).join(' ')
  for (let i = 0; i < 250; i++) rig.put(`src/${i % 7}/file${i}.${i % 2 === 0 ? 'ts' : 'md'}`, text(900))
  rig.put('.env', 'PASSWORD=secret')
  rig.put('big', text(60_000))
  // In small steps, so that there are many small blocks and some deltas.
  for (let i = 0; i < 12; i++) {
    await rig.turn('s1', () => {
      rig.put(`src/0/file${i * 7}.ts`, `${text(900)} ${i}`)
      appendFileSync(join(rig.root, 'big'), `\nturn ${i}`)
      rig.put('.env', `PASSWORD=secret${i}`)
    })
  }
})
afterEach(() => rig.close())

const gc = (more: Partial<GcParts> = {}) => collectGarbage(gcParts(rig.deps, {}, { coldMs: 0, ...more }))
const packsBytes = () =>
  readdirSync(join(rig.home, 'store', 'packs')).reduce(
    (sum, name) => sum + statSync(join(rig.home, 'store', 'packs', name)).size,
    0,
  )
const ids = () => rig.deps.packedBlobs.list().map(({ id }) => id)

function contents(): Map<string, string> {
  return new Map(ids().map((id) => [id, Buffer.from(rig.deps.blobs.read(id)).toString('base64')]))
}

function faults(): string[] {
  const { db, log, packs, packedBlobs } = rig.deps
  const verdict = verifyBlobs({
    db,
    log,
    packs,
    blobs: packedBlobs,
    isChosen: () => true,
    progress: () => {},
  })
  return [...verdict.missing, ...verdict.corrupt, ...verdict.packs]
}

test('cold blobs come to lie together, smaller, and whole; sealed and big ones stay by themselves', async () => {
  const before = contents()
  const bytes = packsBytes()
  const result = await gc()
  expect(result.compacted).toBeGreaterThan(250)
  expect(result.trouble).toBeNull()
  expect(packsBytes()).toBeLessThan(bytes)
  expect(contents()).toEqual(before)
  expect(faults()).toEqual([])
  const rows = rig.deps.db.all('SELECT id, inner, codec FROM blobs')
  expect(rows.filter(({ id }) => isSealed(id as `s${string}`)).every(({ inner }) => inner === null)).toBe(
    true,
  )
  const { blocks } = rig.deps.db.get('SELECT COUNT(*) AS blocks FROM blocks') as { blocks: number }
  expect(blocks).toBeLessThan(5)
  // What was done is not done again.
  expect(await gc()).toMatchObject({ compacted: 0, bytesFreed: 0 })
})

test('what was captured lately is left alone', async () => {
  expect(await gc({ coldMs: 3_600_000 })).toMatchObject({ compacted: 0 })
})

test('whoever reads meanwhile goes on reading', async () => {
  const before = contents()
  const other = openDeps({ TURNBACK_HOME: rig.home })
  try {
    for (const [id, content] of before)
      expect(Buffer.from(other.blobs.read(id as `p${string}`)).toString('base64')).toBe(content)
    await gc()
    for (const [id, content] of before)
      expect(Buffer.from(other.blobs.read(id as `p${string}`)).toString('base64')).toBe(content)
    // It writes on as well.
    const { id } = rig.workspace
    const blob = other.blobs.put(id, Buffer.from('after the packs were rewritten'), false)
    other.blobs.flush()
    expect(Buffer.from(rig.deps.blobs.read(blob)).toString('utf8')).toBe('after the packs were rewritten')
  } finally {
    other.close()
  }
  expect(faults()).toEqual([])
})

test('removed blobs leave no holes: their packs are written anew without them', async () => {
  await rig.turn('s1', () => rmSync(join(rig.root, 'src'), { recursive: true }))
  await rig.turn('s1', () => rig.put('last', 'x'))
  await rig.turn('s1', () => rig.put('last', 'y'))
  const bytes = packsBytes()
  rig.passMinutes(120)
  const limits = { retentionDays: 14, retentionTurns: 1, budgetBytes: 5e9 }
  const result = await gc({ limits, coldMs: 1e12 })
  expect(result.blobs).toBeGreaterThan(250)
  expect(packsBytes()).toBeLessThan(bytes / 2)
  expect(faults()).toEqual([])
  expect(readdirSync(join(rig.home, 'store', 'tmp'))).toEqual([])
  const listed = rig.deps.db.all('SELECT name FROM packs ORDER BY name').map(({ name }) => name)
  expect(readdirSync(join(rig.home, 'store', 'packs')).sort()).toEqual(listed)
})

test('damage is not copied as if it were sound, and what is around it is', async () => {
  const row = rig.deps.db.get(
    "SELECT p.name, b.at, b.id FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.id LIKE 's%'",
  )
  const file = join(rig.home, 'store', 'packs', String(row?.name))
  const bytes = readFileSync(file)
  bytes[Number(row?.at) + 3] = (bytes[Number(row?.at) + 3] ?? 0) ^ 1
  writeFileSync(file, bytes)
  rig.deps.packs.close()
  const damaged = faults()
  expect(damaged).toEqual([row?.id])
  await gc()
  expect(faults()).toEqual(damaged)
})

test('a new pack that does not read back as it was written counts for nothing', async () => {
  const before = contents()
  const finish = PackWriter.prototype.finish
  PackWriter.prototype.finish = function () {
    const pack = finish.call(this)
    const file = join(rig.deps.packs.tmp, pack.name)
    const bytes = readFileSync(file)
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1
    writeFileSync(file, bytes)
    return pack
  }
  try {
    expect(await gc()).toMatchObject({ compacted: 0, trouble: 'PACK_MISSING' })
  } finally {
    PackWriter.prototype.finish = finish
  }
  expect(readdirSync(rig.deps.packs.tmp)).toEqual([])
  expect(contents()).toEqual(before)
  expect(faults()).toEqual([])
})
