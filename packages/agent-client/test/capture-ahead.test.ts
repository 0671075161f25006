import { appendFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { readEntries } from './support/case-of-tree.ts'
import { until } from './support/resident-rig.ts'

let rig: CaptureRig

beforeEach(async () => {
  rig = new CaptureRig('ahead', true)
  for (let i = 0; i < 200; i++)
    rig.write(`src/folder-${i % 20}/file-${i}.ts`, `export const n = ${i}\n`.repeat(20))
  rig.write('.env', 'TOKEN=before\n')
  await rig.init()
  // From here on it hears of changes.
  const turn = await rig.begin()
  await rig.end()
  // Signed after the look that follows it.
  await rig.manifest(turn)
})
afterEach(() => rig.dispose())

const blobs = () => Number(rig.deps.db.get('SELECT COUNT(*) AS n FROM blobs')?.n)

/** Until so many more blobs are in the store than there were. */
const readAhead = (before: number, more: number) =>
  until(() => blobs() >= before + more, `${more} files are read ahead`)

test('what a turn changes is read while it is open, and its end reads nothing again', async () => {
  const turn = await rig.begin()
  const before = blobs()
  for (let i = 0; i < 150; i++) appendFileSync(rig.at(`src/folder-${i % 20}/file-${i}.ts`), `// more ${i}\n`)
  rig.write('new/below/file.ts', 'export {}\n')
  rig.write('.env', 'TOKEN=after\n')
  await readAhead(before, 152)
  const { hashed, row } = await rig.end()
  expect(hashed).toBe(0)
  // With two folders.
  expect(row.entries).toBe(154)
  const entries = readEntries(rig, await rig.manifest(turn))
  expect(entries).toHaveLength(154)
  expect(entries.find(({ path }) => path === 'new/below/file.ts')?.before).toBe('absent')
  // By its name it is a secret, so it was sealed when it was read.
  expect(rig.deps.log.isSealedPath(rig.workspace.id, '.env')).toBe(true)
})

test('what changes after it was read ahead is read again, also with the same size and the same time', async () => {
  const turn = await rig.begin()
  const before = blobs()
  const [path, size] = ['src/folder-1/file-1.ts', statSync(rig.at('src/folder-1/file-1.ts')).size]
  writeFileSync(rig.at(path), 'a'.repeat(size))
  await readAhead(before, 1)
  const { atime, mtime } = statSync(rig.at(path))
  writeFileSync(rig.at(path), 'b'.repeat(size))
  utimesSync(rig.at(path), atime, mtime)
  const { hashed } = await rig.end()
  expect(hashed).toBe(1)
  const { entries } = await rig.manifest(turn)
  const [state] = entries.map(({ after }) => after)
  if (state?.kind !== 'file') throw new Error('a file is told as a file')
  expect(Buffer.from(rig.deps.blobs.read(state.blob)).toString()).toBe('b'.repeat(size))
})

test('what was read ahead and is gone by the end leaves no trace in the turn', async () => {
  const turn = await rig.begin()
  const before = blobs()
  rig.write('passing', 'for a moment only')
  await readAhead(before, 1)
  rmSync(rig.at('passing'))
  await rig.end()
  expect((await rig.manifest(turn)).entries).toEqual([])
})

test('what was collected meanwhile is read again', async () => {
  const turn = await rig.begin()
  const before = blobs()
  rig.write('collected', 'nobody names this yet')
  await readAhead(before, 1)
  rig.deps.db.run(
    'DELETE FROM blobs WHERE condemned_ms IS NULL AND listed_ms = (SELECT MAX(listed_ms) FROM blobs)',
  )
  expect(blobs()).toBe(before)
  const { hashed } = await rig.end()
  expect(hashed).toBe(1)
  const { entries } = await rig.manifest(turn)
  expect(entries.map(({ path }) => path)).toEqual(['collected'])
})

test('between turns nothing is read: that is the next turn’s to do', async () => {
  const before = blobs()
  rig.write('by-hand', 'a person’s')
  await new Promise((go) => setTimeout(go, 400))
  expect(blobs()).toBe(before)
  await rig.begin()
  expect(blobs()).toBe(before + 1)
})
