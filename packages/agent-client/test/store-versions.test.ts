import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdDecompressSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MIGRATIONS } from '#store/schema.ts'
import { runHere } from './support/command-here.ts'

interface OldHome {
  readonly files: Readonly<Record<string, string>>
  readonly tree: Readonly<Record<string, string>>
}
const OLD: OldHome = JSON.parse(readFileSync(new URL('data/store-v1.json', import.meta.url), 'utf8'))

let top: string
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'versions-')))
  for (const [path, text] of Object.entries(OLD.tree)) write(join('tree', path), text, 0o644)
  for (const [path, zstd] of Object.entries(OLD.files))
    write(join('home', path), zstdDecompressSync(Buffer.from(zstd, 'base64')))
  const { dev, ino } = statSync(join(top, 'tree'), { bigint: true })
  inDatabase((db) =>
    db
      .prepare('UPDATE workspaces SET root = ?, device = ?, inode = ?')
      .run(join(top, 'tree'), String(dev), String(ino)),
  )
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

function write(path: string, content: string | Uint8Array, mode = 0o600): void {
  mkdirSync(dirname(join(top, path)), { recursive: true })
  writeFileSync(join(top, path), content, { mode })
}

function inDatabase<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(top, 'home', 'store', 'turnback.db'))
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const versionOf = () => inDatabase((db) => db.prepare('PRAGMA user_version').get()?.user_version)
const read = (path: string) => readFileSync(join(top, 'tree', path), 'utf8')
const cli = (...args: string[]) =>
  runHere({ HOME: top, TURNBACK_HOME: join(top, 'home') }, join(top, 'tree'), args)

test('a store of the first version is brought up, and everything in it is there', async () => {
  expect(versionOf()).toBe(1)
  expect(await cli('verify')).toMatchObject({
    code: 0,
    json: { missing: [], corrupt: [], log: [], packs: [] },
  })
  expect(versionOf()).toBe(MIGRATIONS.length)
  const { turns } = (await cli('log')).json as { turns: { kind: string; undone: string }[] }
  expect(turns.map(({ kind, undone }) => `${kind} ${undone}`)).toEqual([
    'restore no',
    'agent yes',
    'checkpoint no',
    'agent no',
  ])
  expect((await cli('redo')).json).toMatchObject({
    status: 'done',
    restored: ['.env', 'a'],
    deleted: ['src/f2'],
  })
  expect([read('a'), read('.env')]).toEqual(['three\n', 'SECRET=2\n'])
  expect((await cli('restore', '2')).json).toMatchObject({
    status: 'done',
    restored: ['.env', 'a', 'src/f2'],
  })
  write('tree/a', 'four\n')
  await cli('begin', '--session', 'new')
  write('tree/src/f1', 'changed')
  expect((await cli('end', '--session', 'new')).json).toMatchObject({ changed: 1 })
  expect((await cli('gc')).json).toMatchObject({ turns: 0, blobs: 0 })
  expect((await cli('undo')).json).toMatchObject({ status: 'done', restored: ['src/f1'] })
  expect(read('src/f1')).toBe(OLD.tree['src/f1'])
  expect((await cli('verify')).json).toMatchObject({ missing: [], corrupt: [], log: [], packs: [] })
}, 120_000)

test('a store of a newer version is refused by every command, and left as it is', async () => {
  inDatabase((db) => db.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`))
  const before = readFileSync(join(top, 'home', 'store', 'turnback.db'))
  for (const command of ['status', 'gc', 'verify', 'undo'])
    expect(await cli(command)).toMatchObject({
      code: 1,
      json: {
        error: { code: 'STORE_NEWER', details: { found: MIGRATIONS.length + 1, known: MIGRATIONS.length } },
      },
    })
  expect(readFileSync(join(top, 'home', 'store', 'turnback.db'))).toEqual(before)
}, 60_000)
