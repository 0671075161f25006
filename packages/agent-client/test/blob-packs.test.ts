import { createHash, randomBytes } from 'node:crypto'
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'
import { type BlobId, CODECS, parseFrameHeader } from '@turnback/core'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { plainId } from '#crypto/sealed-id.ts'
import { buildPacks } from '#sync/pack-builder.ts'
import { CaptureRig } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('packs')
  await rig.init()
})
afterEach(() => rig.dispose())

const store = (...names: string[]) => join(rig.top, 'home', 'store', ...names)
const packBytes = () =>
  readdirSync(store('packs')).reduce((sum, name) => sum + lstatSync(store('packs', name)).size, 0)

interface BlobRow {
  readonly codec: number
  readonly base: string | null
  readonly depth: number
  readonly inner: number | null
}

function rowOf(id: BlobId): BlobRow {
  const db = new DatabaseSync(store('turnback.db'), { readOnly: true })
  try {
    const row = db.prepare('SELECT codec, base, depth, inner FROM blobs WHERE id = ?').get(id)
    if (row === undefined) throw new Error(`${id} is not listed`)
    const { codec, base, depth, inner } = row
    return {
      codec: Number(codec),
      base: base === null ? null : String(base),
      depth: Number(depth),
      inner: inner === null ? null : Number(inner),
    }
  } finally {
    db.close()
  }
}

function change(sql: string, ...values: string[]): void {
  rig.reopen()
  const db = new DatabaseSync(store('turnback.db'))
  db.prepare(sql).run(...values)
  db.close()
}

/** Text that packs about as well as source does. */
function text(lines: number, seed: number): Buffer {
  let salt = seed
  const words = Array.from({ length: lines }, (_, i) => {
    salt = (Math.imul(salt, 1_103_515_245) + 12_345) >>> 0
    return `  const value${i % 97} = compute('${salt.toString(36)}', ${i})\n`
  })
  return Buffer.from(words.join(''))
}

function putVersions(versions: readonly Buffer[]): BlobId[] {
  const { packedBlobs } = rig.deps
  let previous: BlobId | null = null
  return versions.map((content) => {
    previous = packedBlobs.put(rig.workspace.id, content, false, previous)
    packedBlobs.flush()
    return previous
  })
}

test('versions of a file are kept as what differs, at most sixteen deep, and read again', () => {
  const first = text(1500, 1)
  const versions = Array.from({ length: 40 }, (_, i) =>
    Buffer.concat([Buffer.from(`// ${i}\n`.repeat(i)), first, Buffer.from(`// line ${i}\n`.repeat(i))]),
  )
  const [id, ...later] = putVersions(versions.slice(0, 1)).concat(putVersions(versions).slice(1))
  const before = packBytes()
  expect(before).toBeLessThan(first.length)
  const all = [id, ...later].flatMap((each) => (each === undefined ? [] : [each]))
  const rows = all.map(rowOf)
  expect(rows[0]).toMatchObject({ base: null, depth: 0 })
  expect(Math.max(...rows.map(({ depth }) => depth))).toBe(16)
  expect(rows.filter(({ base }) => base === null)).toHaveLength(1)
  rig.reopen()
  for (const [i, each] of all.entries())
    expect(Buffer.from(rig.deps.blobs.read(each)).equals(versions[i] ?? Buffer.alloc(0))).toBe(true)
})

test('ten turns of one appended line cost next to nothing, and the same result nothing at all', () => {
  const first = text(10_000, 2)
  const versions = Array.from({ length: 11 }, (_, i) =>
    Buffer.concat([first, Buffer.from('// more\n'.repeat(i))]),
  )
  putVersions(versions.slice(0, 1))
  const whole = packBytes()
  const ids = putVersions(versions)
  const grown = packBytes() - whole
  expect(grown).toBeLessThan(whole / 50)
  expect(putVersions(versions)).toEqual(ids)
  expect(packBytes() - whole).toBe(grown)
})

test('another content under the same path is kept whole', () => {
  const [, other] = putVersions([text(500, 3), randomBytes(20_000)])
  expect(rowOf(other ?? plainId(Buffer.alloc(0)))).toMatchObject({ base: null, depth: 0 })
})

test('a base that is lost or damaged fails the read, and never gives other bytes', () => {
  const first = text(3000, 4)
  const [base, delta] = putVersions([first, Buffer.concat([first, Buffer.from('// more\n')])])
  if (base === undefined || delta === undefined) throw new Error('both were put')
  expect(rowOf(delta)).toMatchObject({ codec: CODECS.delta, base, depth: 1 })
  // Another blob in the place of the base: its bytes are sound, and not those.
  const [other] = putVersions([text(3000, 5)])
  change(
    'UPDATE blobs SET (pack, at, codec, size, stored, inner) = (SELECT pack, at, codec, size, stored, inner FROM blobs WHERE id = ?) WHERE id = ?',
    other ?? '',
    base,
  )
  expect(() => rig.deps.blobs.read(delta)).toThrow(expect.objectContaining({ code: 'BLOB_HASH_MISMATCH' }))
  change('DELETE FROM blobs WHERE id = ?', base)
  expect(() => rig.deps.blobs.read(delta)).toThrow(expect.objectContaining({ code: 'BLOB_NOT_FOUND' }))
  // A chain that leads back to itself ends.
  change('UPDATE blobs SET base = id WHERE id = ?', delta)
  expect(() => rig.deps.blobs.read(delta)).toThrow(expect.objectContaining({ code: 'BLOB_HASH_MISMATCH' }))
})

test('a damaged block fails the blobs in it', () => {
  const [id] = putVersions([text(100, 6)])
  rig.reopen()
  const [pack] = readdirSync(store('packs'))
  const bytes = readFileSync(store('packs', pack ?? ''))
  writeFileSync(store('packs', pack ?? ''), bytes.fill(0, bytes.length - 50))
  expect(() => rig.deps.blobs.read(id ?? plainId(bytes))).toThrow(
    expect.objectContaining({ code: 'BLOB_HASH_MISMATCH' }),
  )
})

test('secret bytes are never compared with an earlier version, and lie under lock', () => {
  const secret = Buffer.from('TOKEN=abcdefghijklmnopqrstuvwxyz\n'.repeat(40))
  const { packedBlobs } = rig.deps
  const first = packedBlobs.put(rig.workspace.id, secret, true)
  packedBlobs.flush()
  const next = packedBlobs.put(rig.workspace.id, Buffer.concat([secret, secret]), true, first)
  packedBlobs.flush()
  expect(rowOf(next)).toEqual({ codec: CODECS.vault, base: null, depth: 0, inner: null })
  const plain = packedBlobs.put(rig.workspace.id, Buffer.concat([secret, Buffer.from('x')]), false, next)
  packedBlobs.flush()
  expect(rowOf(plain)).toMatchObject({ base: null })
  expect(Buffer.from(packedBlobs.read(next))).toEqual(Buffer.concat([secret, secret]))
})

test.each([false, true])('a big file goes through in pieces (sealed: %s)', (sealed) => {
  const content = Buffer.concat([text(200_000, 7), randomBytes(3_000_000)])
  rig.write('big', content)
  const fd = openSync(rig.at('big'), 'r')
  const { blob, sizeBytes } = rig.deps.blobs.putOpenFile(rig.workspace.id, fd, sealed)
  closeSync(fd)
  rig.deps.blobs.flush()
  expect(sizeBytes).toBe(content.length)
  expect(rowOf(blob).codec).toBe(sealed ? CODECS.vault : CODECS.pieces)
  if (!sealed) expect(packBytes()).toBeLessThan(content.length / 2)
  rig.reopen()
  const hash = createHash('sha256')
  let largest = 0
  rig.deps.blobs.readPieces(blob, (piece) => {
    hash.update(piece)
    largest = Math.max(largest, piece.length)
  })
  expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'))
  expect(largest).toBeLessThanOrEqual(1024 * 1024)
  expect(content.equals(rig.deps.blobs.read(blob))).toBe(true)
  // Found out at the latest when the last piece was given out.
  rig.reopen()
  const name =
    readdirSync(store('packs')).find((each) => lstatSync(store('packs', each)).size > 2_000_000) ?? ''
  const pack = readFileSync(store('packs', name))
  pack[pack.length >> 1] = (pack[pack.length >> 1] ?? 0) ^ 1
  writeFileSync(store('packs', name), pack)
  expect(() => rig.deps.blobs.readPieces(blob, () => {})).toThrow(
    expect.objectContaining({ code: 'BLOB_HASH_MISMATCH' }),
  )
})

test.each(['small', 'big'])(
  'a %s blob whose pack is rewritten while many are read together is found where it is now',
  (kind) => {
    const content = kind === 'small' ? text(100, 9) : randomBytes(9_000_000)
    const { packedBlobs } = rig.deps
    const first = packedBlobs.put(rig.workspace.id, text(3, 1), false)
    packedBlobs.flush()
    const id = packedBlobs.put(rig.workspace.id, content, false)
    packedBlobs.flush()
    rig.reopen()
    const { blobs } = rig.deps
    const read = blobs.together(() => {
      expect(blobs.findSize(first)).toBe(text(3, 1).length)
      rewritePacks()
      const pieces: Uint8Array[] = []
      blobs.readPieces(id, (piece) => pieces.push(piece.slice()))
      return Buffer.concat(pieces)
    })
    expect(read.equals(content)).toBe(true)
    expect(rig.deps.blobs.together(() => Buffer.from(blobs.read(first)).equals(text(3, 1)))).toBe(true)
  },
)

/** As gc does in a process of its own: the same blobs in other packs, and the old ones gone. */
function rewritePacks(): void {
  for (const name of readdirSync(store('packs'))) renameSync(store('packs', name), store('packs', `z${name}`))
  const db = new DatabaseSync(store('turnback.db'), { enableForeignKeyConstraints: false })
  db.exec(`BEGIN IMMEDIATE; UPDATE packs SET id = id + 1000, name = 'z' || name;
    UPDATE blobs SET pack = pack + 1000; UPDATE blocks SET pack = pack + 1000; COMMIT`)
  db.close()
}

test('what is sent to the service is whole: the wire knows no deltas and no blocks', async () => {
  const first = text(300, 8)
  const next = Buffer.concat([first, Buffer.from('// more\n')])
  const [, delta] = putVersions([first, next])
  if (delta === undefined) throw new Error('it was put')
  expect(rowOf(delta).codec).toBe(CODECS.delta)
  const recipients = [await identityToRecipient(await generateX25519Identity())]
  for await (const pack of buildPacks([delta], { blobs: rig.deps.blobs, recipients })) {
    const body = Buffer.concat(pack.pieces)
    const parsed = parseFrameHeader(body, 16)
    if (parsed.kind !== 'frame') throw new Error('a frame follows the magic bytes')
    expect(parsed.header).toMatchObject({ id: delta, codec: 'zstd', sizeBytes: next.length })
    expect(zstdDecompressSync(body.subarray(16 + parsed.headerBytes))).toEqual(next)
  }
})

test('what one capture put is not named by another after it was given up', () => {
  const { packedBlobs } = rig.deps
  const lost = packedBlobs.put(rig.workspace.id, Buffer.from('put by two at once'), false)
  packedBlobs.discard()
  expect(() => packedBlobs.confirm([lost])).toThrow(expect.objectContaining({ code: 'NOT_RECORDED' }))
  packedBlobs.put(rig.workspace.id, Buffer.from('put by two at once'), false)
  packedBlobs.flush()
  expect(() => packedBlobs.confirm([lost])).not.toThrow()
})

test('bytes that were found and are gone when they are to be named fail the flush', () => {
  const { packedBlobs } = rig.deps
  const [id] = putVersions([Buffer.from('found, and then removed')])
  expect(packedBlobs.put(rig.workspace.id, Buffer.from('found, and then removed'), false)).toBe(id)
  const db = new DatabaseSync(store('turnback.db'))
  db.prepare('DELETE FROM blobs WHERE id = ?').run(id ?? '')
  db.close()
  expect(() => packedBlobs.flush()).toThrow(expect.objectContaining({ code: 'BLOB_NOT_FOUND' }))
})
