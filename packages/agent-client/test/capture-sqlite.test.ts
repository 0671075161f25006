import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TurnManifest } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig, outline } from './support/capture-rig.ts'

let rig: CaptureRig
let db: DatabaseSync
beforeEach(() => {
  rig = new CaptureRig('sqlite')
  db = new DatabaseSync(rig.at('app.data'))
  // Two tables that say the same after each transaction; only a copy of two moments lets them differ.
  db.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE a(n); CREATE TABLE b(n)')
  pay(0)
})
afterEach(() => {
  if (db.isOpen) db.close()
  rig.dispose()
})

function pay(n: number): void {
  db.exec(`BEGIN; INSERT INTO a VALUES (${n}); INSERT INTO b VALUES (${n}); COMMIT`)
}

/** What SQLite finds in the files that a turn captured. */
function openCaptured(manifest: TurnManifest): { rows: number[]; check: unknown } {
  const folder = join(rig.top, `copy-${manifest.number}`)
  mkdirSync(folder)
  for (const name of ['app.data', 'app.data-wal', 'app.data-journal']) {
    const state = rig.deps.log.getKnownTree(rig.workspace.id).get(name)
    if (state?.kind === 'file') writeFileSync(join(folder, name), rig.deps.blobs.read(state.blob))
  }
  const copy = new DatabaseSync(join(folder, 'app.data'))
  const count = (table: string) => Number(copy.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n)
  const result = { rows: [count('a'), count('b')], check: copy.prepare('PRAGMA integrity_check').get() }
  copy.close()
  return result
}

/** Writes to the database whenever one of its files was read, so often. */
function writeOnRead(times: number): () => void {
  const { packedBlobs } = rig.deps
  const put = packedBlobs.putOpenFile.bind(packedBlobs)
  let left = times
  packedBlobs.putOpenFile = (workspace, fd, sealed) => {
    const stored = put(workspace, fd, sealed)
    if (left-- > 0) {
      pay(left)
      db.exec('PRAGMA wal_checkpoint(PASSIVE)')
    }
    return stored
  }
  return () => {
    packedBlobs.putOpenFile = put
  }
}

async function turnWith(times: number): Promise<TurnManifest> {
  const turn = await rig.begin()
  pay(100)
  const undo = writeOnRead(times)
  await rig.end()
  undo()
  return rig.manifest(turn)
}

test('a database in use is captured as it was at one moment, though it was written to meanwhile', async () => {
  await rig.init()
  const manifest = await turnWith(3)
  // The shared memory changes without a write; SQLite makes it anew.
  expect(outline(manifest).filter((line) => !line.startsWith('app.data-shm'))).toEqual([
    'app.data: file → file',
    'app.data-wal: file → file',
  ])
  const { rows, check } = openCaptured(manifest)
  expect(rows[0]).toBe(rows[1])
  expect(rows[0]).toBe(Number(db.prepare('SELECT COUNT(*) AS n FROM a').get()?.n))
  expect(check).toEqual({ integrity_check: 'ok' })
})

test('one that is always written to is left out whole, with the reason, and had again when it rests', async () => {
  await rig.init()
  const manifest = await turnWith(1000)
  expect(outline(manifest)).toEqual([
    'app.data: file → unsafe-live',
    'app.data-shm: file → unsafe-live',
    'app.data-wal: file → unsafe-live',
  ])
  expect(manifest.skipped.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
    'app.data unsafe-live',
    'app.data-shm unsafe-live',
    'app.data-wal unsafe-live',
  ])
  const next = await rig.turn(() => {})
  const { rows } = openCaptured(next)
  expect(rows[0]).toBe(rows[1])
  expect(rig.deps.log.getKnownTree(rig.workspace.id).get('app.data')).toMatchObject({ kind: 'file' })
})

test('a transaction that begins between the walk and the reading is seen by its journal', async () => {
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1')
  pay(1)
  await rig.init()
  const turn = await rig.begin()
  pay(2)
  const { packedBlobs } = rig.deps
  const put = packedBlobs.putOpenFile.bind(packedBlobs)
  let isOpen = false
  packedBlobs.putOpenFile = (workspace, fd, sealed) => {
    // Half of it is in the file already when that is read; the other half never comes.
    if (!isOpen)
      db.exec(
        "BEGIN; INSERT INTO a SELECT value FROM json_each('[' || rtrim(replace(hex(zeroblob(20000)), '0', '1,'), ',') || ']')",
      )
    isOpen = true
    return put(workspace, fd, sealed)
  }
  await rig.end()
  packedBlobs.putOpenFile = put
  const { rows, check } = openCaptured(await rig.manifest(turn))
  db.exec('ROLLBACK')
  expect(check).toEqual({ integrity_check: 'ok' })
  expect(rows[0]).toBe(rows[1])
})

test('files that only look like a database’s are files like any other', async () => {
  rig.write('notes-wal', 'not a log')
  rig.write('notes', 'not a database')
  await rig.init()
  const turn = await rig.begin()
  const { packedBlobs } = rig.deps
  const put = packedBlobs.putOpenFile.bind(packedBlobs)
  let writes = 0
  packedBlobs.putOpenFile = (workspace, fd, sealed) => {
    const stored = put(workspace, fd, sealed)
    rig.write('notes', `changed ${writes++}`)
    return stored
  }
  rig.write('notes-wal', 'changed')
  await rig.end()
  packedBlobs.putOpenFile = put
  expect(outline(await rig.manifest(turn))).toContain('notes-wal: file → file')
})

test('a database that nobody has open is one file', async () => {
  db.close()
  expect(existsSync(rig.at('app.data-wal'))).toBe(false)
  await rig.init()
  copyFileSync(rig.at('app.data'), join(rig.top, 'before'))
  const manifest = await rig.turn(() => {
    db = new DatabaseSync(rig.at('app.data'))
    pay(1)
    db.close()
  })
  expect(outline(manifest)).toEqual(['app.data: file → file'])
  expect(openCaptured(manifest).rows).toEqual([2, 2])
})
