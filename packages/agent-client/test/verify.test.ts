import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SeededRandom } from '@turnback/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDeps } from '#deps.ts'
import { PackedBlobs } from '#store/blob-store.ts'
import { verifyBlobs } from '#store/verify-blobs.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'

/** A store with frames of every kind: blocks, deltas, sealed bytes, big blobs, and a log with a restore in it. */
let rig: CaptureRig
let whole: string

beforeAll(async () => {
  rig = new CaptureRig('verify')
  const random = new SeededRandom(5)
  const noise = (bytes: number) => Buffer.from(Array.from({ length: bytes }, () => random.below(256)))
  const lines = Array.from({ length: 3_000 }, (_, i) => `line ${i} of a text that is long enough`)
  for (let i = 0; i < 40; i++)
    rig.write(`src/file${i}.ts`, `export const n = ${i}\n`.repeat(1 + random.below(80)))
  rig.write('noise', noise(40_000))
  rig.write('.env', 'PASSWORD=not-for-everybody')
  rig.write('text', lines.join('\n'))
  rig.write('big', Buffer.concat([Buffer.alloc(8_500_000, 'a text that repeats '), noise(10_000)]))
  await rig.init()
  for (let i = 0; i < 5; i++) {
    await rig.turn(() => {
      lines[random.below(lines.length)] = `changed in turn ${i}`
      rig.write('text', lines.join('\n'))
      rig.write(`src/file${i}.ts`, `changed ${i}\n`)
      rig.write('.env', `PASSWORD=number-${i}`)
    })
  }
  rig.run(['undo'])
  rig.reopen()
  whole = join(rig.top, 'whole')
  cpSync(store(), whole, { recursive: true })
})
afterAll(() => rig.dispose())

const store = (...names: string[]) => join(rig.top, 'home', 'store', ...names)

interface Verdict {
  readonly blobs: number
  readonly bytes: number
  readonly missing: string[]
  readonly corrupt: string[]
  readonly packs: string[]
  readonly log: { readonly what: string; readonly turn: string | null }[]
  readonly affected: { readonly blobs: string[]; readonly path: string; readonly turns: string[] }[]
}

/** The command line in this process, each time with a store that is opened anew. */
async function verify(...args: string[]): Promise<Verdict & { readonly code: number }> {
  const { code, json } = await runHere(rig.env, rig.root, ['verify', ...args])
  return { code, ...(json as unknown as Verdict) }
}

function putBack(): void {
  rmSync(store(), { recursive: true })
  cpSync(whole, store(), { recursive: true })
}

function inDatabase<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(store('turnback.db'))
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const faultsOf = (verdict: Verdict) =>
  verdict.missing.length + verdict.corrupt.length + verdict.packs.length + verdict.log.length

test('a sound store is sound, whole and in parts that cover it', async () => {
  const all = await verify()
  expect(all).toMatchObject({ code: 0, missing: [], corrupt: [], packs: [], log: [], affected: [] })
  expect(all.blobs).toBeGreaterThan(50)
  const parts = [
    await verify('--subset', '1/3'),
    await verify('--subset', '2/3'),
    await verify('--subset', '3/3'),
  ]
  expect(parts.map(({ code }) => code)).toEqual([0, 0, 0])
  expect(parts.reduce((sum, part) => sum + part.blobs, 0)).toBe(all.blobs)
  expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(all.bytes)
  for (const part of parts) expect(part.blobs).toBeGreaterThan(5)
})

/** All of them by `pnpm test:long`. */
const FLIPS = process.env.TURNBACK_TEST_LONG === '1' ? 500 : 60

test(`${FLIPS} of ${FLIPS} flipped bits in packs are found`, async () => {
  const random = new SeededRandom(77)
  const packs = readdirSync(store('packs')).map((name) => ({
    name,
    bytes: statSync(store('packs', name)).size,
  }))
  // Half of them anywhere, half in the heads of frames, where a flip leaves the bytes readable.
  const spots = inDatabase((db) =>
    db
      .prepare('SELECT DISTINCT p.name, b.at FROM blobs b JOIN packs p ON p.id = b.pack')
      .all()
      .map((row) => ({ name: String(row.name), at: Number(row.at) })),
  )
  let found = 0
  const deps = openDeps(rig.env)
  for (let i = 0; i < FLIPS; i++) {
    const spot = i % 2 === 0 ? null : random.pick(spots)
    const pack = spot ?? random.pick(packs)
    const file = store('packs', pack.name)
    const bytes = readFileSync(file)
    const at =
      spot === null
        ? random.below(bytes.length)
        : Math.max(0, spot.at - 1 - random.below(12) + random.below(16))
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8))
    writeFileSync(file, flipped)
    // Each time by who has read nothing yet.
    deps.packs.close()
    const blobs = new PackedBlobs(deps.db, deps.packs, () => deps.packedBlobs.storeKey)
    const { db, log } = deps
    const verdict = verifyBlobs({
      db,
      log,
      packs: deps.packs,
      blobs,
      isChosen: () => true,
      progress: () => {},
    })
    if (verdict.missing.length + verdict.corrupt.length + verdict.packs.length > 0) found++
    else console.log(`not found: ${pack.name} at ${at}`)
    writeFileSync(file, bytes)
  }
  deps.close()
  expect(found).toBe(FLIPS)
}, 120_000)

test('packs that were cut off or removed, and who needs their bytes', async () => {
  for (const name of readdirSync(store('packs'))) {
    truncateSync(store('packs', name), statSync(store('packs', name)).size - 1)
    const cut = await verify()
    expect(cut).toMatchObject({ code: 1, corrupt: [] })
    expect(cut.missing.length).toBeGreaterThan(0)
    rmSync(store('packs', name))
    const gone = await verify()
    expect(gone.code).toBe(1)
    expect(gone.missing.length).toBeGreaterThanOrEqual(cut.missing.length)
    for (const blob of gone.missing)
      expect(
        gone.affected.some((each) => each.blobs.includes(blob)),
        blob,
      ).toBe(true)
    putBack()
  }
  rmSync(store('packs'), { recursive: true })
  const nothing = await verify()
  expect(nothing.missing).toHaveLength(nothing.blobs)
  const text = nothing.affected.filter(({ path }) => path === 'text')
  expect(text).toHaveLength(1)
  expect(text[0]?.blobs.length).toBeGreaterThan(5)
  expect(text[0]?.turns.length).toBeGreaterThan(4)
  putBack()
})

test('whatever is altered in the index and in the log is found', async () => {
  const alterations: string[] = []
  for (const [column, value] of [
    ['size', 'size + 1'],
    ['stored', 'stored - 1'],
    ['at', 'at + 1'],
    ['codec', '1 - codec'],
    ['pack', 'pack + 50'],
    ['id', "'p' || substr(id, 3) || 'f'"],
    ['inner', 'inner + 1'],
    ['base', "'p' || substr(base, 3) || 'f'"],
    ['base', 'NULL'],
  ] as const) {
    const some = `SELECT id FROM blobs WHERE ${column} IS NOT NULL ORDER BY id LIMIT 1 OFFSET 3`
    alterations.push(`UPDATE blobs SET ${column} = ${value} WHERE id = (${some})`)
  }
  alterations.push(
    'DELETE FROM blobs WHERE id = (SELECT id FROM blobs WHERE base IS NULL ORDER BY id LIMIT 1 OFFSET 9)',
    'DELETE FROM blocks',
    'UPDATE blocks SET size = size + 1',
    'UPDATE blocks SET crc = crc + 1',
    "UPDATE packs SET name = 'other.pack' WHERE id = 1",
    `UPDATE changes SET after = json_set(after, '$.mode', 511) WHERE rowid_of IS NOT NULL`.replace(
      'rowid_of',
      'path',
    ),
    "UPDATE changes SET source = 'outside' WHERE path = 'text'",
    'DELETE FROM changes WHERE scan = (SELECT MIN(scan) FROM changes)',
    "UPDATE changes SET before = '{' WHERE path = 'text'",
    "UPDATE changes SET turn = 't_nobody' WHERE path = 'text'",
    'UPDATE envelopes SET zstd = (SELECT zstd FROM envelopes ORDER BY seq LIMIT 1)',
    'UPDATE envelopes SET sha256 = prev WHERE seq = 2',
    'DELETE FROM envelopes WHERE seq = 2',
    'DELETE FROM envelopes WHERE seq = (SELECT MAX(seq) FROM envelopes)',
    'UPDATE workspaces SET head_sha256 = NULL',
    "UPDATE restores SET detail = json_set(detail, '$.popped', json('[]'))",
    "UPDATE turns SET session = 'another' WHERE number = 1",
    `UPDATE known_folders SET entries = replace(entries, '"f"', '"x"') WHERE folder = 'src'`,
    `UPDATE known_folders SET entries = replace(entries, '"p', '"p0') WHERE folder = ''`,
  )
  const missed: string[] = []
  for (const sql of alterations) {
    const changed = inDatabase((db) => Number(db.prepare(sql).run().changes))
    expect(changed, sql).toBeGreaterThan(0)
    const verdict = await verify()
    if (verdict.code !== 1 || faultsOf(verdict) === 0) missed.push(sql)
    putBack()
  }
  expect(missed).toEqual([])
}, 120_000)

test('a delta whose base is damaged is damaged too, and its turns are named', async () => {
  const { pack, at, base, delta } = inDatabase((db) => {
    const row = db
      .prepare(
        `SELECT p.name AS pack, b.at, b.id AS base, d.id AS delta FROM blobs d JOIN blobs b ON b.id = d.base JOIN packs p ON p.id = b.pack
          WHERE b.base IS NULL LIMIT 1`,
      )
      .get()
    return {
      pack: String(row?.pack),
      at: Number(row?.at),
      base: String(row?.base),
      delta: String(row?.delta),
    }
  })
  const file = store('packs', pack)
  const bytes = readFileSync(file)
  bytes[at + 20] = (bytes[at + 20] ?? 0) ^ 4
  writeFileSync(file, bytes)
  const verdict = await verify()
  expect(verdict.corrupt).toEqual(expect.arrayContaining([base, delta]))
  const named = verdict.affected.find(({ blobs }) => blobs.includes(delta))
  expect(named).toMatchObject({ path: 'text', blobs: expect.arrayContaining([base, delta]) })
  expect(named?.turns.length).toBeGreaterThan(1)
  putBack()
})
