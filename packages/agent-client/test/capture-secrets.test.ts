import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DomainError, isSealed, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CaptureRig, entryOf } from './support/capture-rig.ts'

// Made up here; of the form that the scanner knows.
const TOKEN = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
const MARKER = 'plain-marker-of-a-secret'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('secrets')
})
afterEach(() => rig.dispose())

/** Every byte that the home holds: files as they lie there, and each blob that can be read without a key. */
function everythingReadable(): string {
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory()
        ? files(join(folder, entry.name))
        : [readFileSync(join(folder, entry.name)).toString('latin1')],
    )
  const plain = rig.deps.packedBlobs
    .list()
    .filter(({ id }) => !isSealed(id))
    .map(({ id }) => Buffer.from(rig.deps.blobs.read(id)).toString('latin1'))
  return [...files(join(rig.top, 'home')), ...plain].join('\n')
}

test('ignored files and files with secret names are sealed, and can be read here', async () => {
  execFileSync('git', ['init', '-q', rig.root])
  writeFileSync(rig.at('.gitignore'), 'private/\n*.log\n!keep.log\n')
  rig.write('sub/.gitignore', 'here\n')
  const sealed = [
    'private/x',
    'run.log',
    '.env.local',
    'id_ed25519',
    'certs/k.pem',
    'data.sqlite',
    'sub/here',
  ]
  const plain = ['keep.log', 'here', 'src/credentials.ts']
  for (const path of [...sealed, ...plain]) rig.write(path, `${MARKER} ${path}`)
  await rig.init()
  const manifest = await rig.turn(() => {
    for (const path of [...sealed, ...plain]) rig.write(path, `${MARKER} ${path} new`)
  })
  const bySealed = (value: boolean) => manifest.entries.filter((e) => e.sealed === value).map((e) => e.path)
  expect(bySealed(true)).toEqual(sealed.toSorted())
  expect(bySealed(false)).toEqual(plain.toSorted())
  for (const entry of manifest.entries) {
    for (const side of ['before', 'after'] as const) {
      const state = entry[side]
      expect(state.kind === 'file' && isSealed(state.blob)).toBe(entry.sealed)
    }
    expect(rig.read(entry, 'before')).toBe(`${MARKER} ${entry.path}`)
  }
  const seen = everythingReadable()
  for (const path of sealed) expect(seen.includes(`${MARKER} ${path}`)).toBe(false)
  // The search does find what is there.
  expect(seen.includes(`${MARKER} keep.log`)).toBe(true)
})

test('a file whose content holds a secret is sealed before the turn is signed, on both sides, and for good', async () => {
  rig.write('config.ts', 'nothing yet')
  await rig.init()
  const first = await rig.turn(() => rig.write('config.ts', `const token = '${TOKEN}'\n`))
  const entry = entryOf(first, 'config.ts')
  expect(entry.sealed).toBe(true)
  for (const state of [entry.before, entry.after])
    expect(state.kind === 'file' && isSealed(state.blob)).toBe(true)
  expect([rig.read(entry, 'before'), rig.read(entry, 'after')]).toEqual([
    'nothing yet',
    `const token = '${TOKEN}'\n`,
  ])
  expect(JSON.stringify(first)).not.toContain(TOKEN)

  const second = await rig.turn(() => rig.write('config.ts', 'harmless again'))
  expect(entryOf(second, 'config.ts')).toMatchObject({ sealed: true, before: entry.after })
  expect(rig.deps.log.isSealedPath(rig.workspace.id, 'config.ts')).toBe(true)
  // The log agrees with the manifest, and the next scan sees no change in a file whose name only is another.
  expect(rig.deps.log.listChanges(rig.workspace.id, ['config.ts'])[0]).toMatchObject({ after: entry.after })
  expect((await rig.turn(() => {})).entries).toEqual([])
})

test('a file that becomes ignored is no change as long as its bytes stay', async () => {
  rig.write('notes', 'text')
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('.gitignore', 'notes\n')
    rig.write('notes', 'text')
  })
  expect(manifest.entries.map(({ path }) => path)).toEqual(['.gitignore'])
  const later = await rig.turn(() => rig.write('notes', 'other'))
  expect(entryOf(later, 'notes').sealed).toBe(true)
})

test('where an ignore file can not be read, everything below is sealed and the turn says so', async () => {
  rig.write('sub/.gitignore', '#'.repeat(1024 * 1024 + 1))
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('sub/in', 'x')
    rig.write('out', 'x')
  })
  expect(manifest.entries.filter((each) => each.sealed).map(({ path }) => path)).toEqual(['sub/in'])
  expect(manifest.coverage).toMatchObject({ complete: false })
  expect(manifest.coverage.reason).toContain('ignore file')
})

test('texts that come with a turn are masked before they are written anywhere', async () => {
  await rig.init()
  const turn = await rig.begin({ prompt: `use ${TOKEN} to push` })
  await rig.event({ type: 'tool.before', tool: 'Bash', command: `curl -H "Authorization: ${TOKEN}" x` })
  expect(everythingReadable()).not.toContain(TOKEN)
  await rig.end()
  const manifest = await rig.manifest(turn as TurnId)
  expect(manifest.prompt).toBe('use [masked] to push')
  expect(rig.deps.log.listToolEvents(turn)[0]?.command).toContain('[masked]')
  expect(everythingReadable()).not.toContain(TOKEN)
})

test('a turn that could not be searched in time is signed by who comes next, and not before it was searched', async () => {
  rig.write('a', 'a')
  await rig.init()
  const turn = await rig.begin()
  rig.write('key.txt', `token ${TOKEN}`)
  const { nowMs } = rig.deps.clock
  // Each look at the clock takes a minute.
  rig.deps.clock.nowMs = () => {
    rig.aheadMs += 60_000
    return Date.now() + rig.aheadMs
  }
  const { row } = await rig.end()
  rig.deps.clock.nowMs = nowMs
  expect(row).toMatchObject({ isOpen: false, created: 1 })
  expect(rig.deps.captureLog.isSigned(turn)).toBe(false)
  expect(entryOf(await rig.manifest(turn), 'key.txt').sealed).toBe(true)
})

test('keys and the store are for their owner alone', async () => {
  rig.write('.env', MARKER)
  await rig.init()
  await rig.turn(() => rig.write('.env', 'x'))
  const listing = execFileSync('find', [join(rig.top, 'home'), '-printf', '%y %m %P\n'], { encoding: 'utf8' })
  for (const line of listing.trimEnd().split('\n')) expect(line).toMatch(/^(d 700|f 600) /)
  expect(listing).toMatch(/f 600 keys\/machine\.json/)
  expect(listing).toMatch(/f 600 keys\/store\.key/)
})

test('two workspaces give the same secret different names', async () => {
  rig.write('.env', MARKER)
  await rig.init()
  const other = new CaptureRig('other')
  try {
    other.write('.env', MARKER)
    await other.init()
    const names = [rig, other].map((each) => each.deps.log.getKnownTree(each.workspace.id).get('.env'))
    expect(names[0]).not.toEqual(names[1])
  } finally {
    other.dispose()
  }
  const keys = new DatabaseSync(join(rig.top, 'home', 'store', 'turnback.db'), { readOnly: true })
  expect(keys.prepare('SELECT length(id_key) AS n FROM workspaces').get()).toEqual({ n: 32 })
  keys.close()
})

test('of what is too big to be searched only the beginning is read: a text is sealed, other files are not', async () => {
  const sizeBytes = 65 * 1024 * 1024
  mkdirSync(join(rig.top, 'home'), { recursive: true })
  writeFileSync(join(rig.top, 'home', 'config.json'), JSON.stringify({ maxFileBytes: sizeBytes }))
  await rig.init()
  const turn = await rig.begin()
  rig.write('video', '')
  truncateSync(rig.at('video'), sizeBytes)
  rig.write('long.txt', 'a line\n'.repeat(700_000))
  const { blobs } = rig.deps
  const read = vi.spyOn(blobs, 'read')
  await rig.end()
  const manifest = await rig.manifest(turn)
  const idOf = (path: string) => {
    const { after } = entryOf(manifest, path)
    if (after.kind !== 'file') throw new Error(`${path} is ${after.kind}`)
    return after.blob
  }
  expect([isSealed(idOf('video')), isSealed(idOf('long.txt'))]).toEqual([false, true])
  expect(read.mock.calls.flat()).not.toContain(idOf('video'))
})

test('bytes that are lost keep no turn from being signed', async () => {
  rig.write('a', 'what will be lost')
  await rig.init()
  const state = rig.deps.log.getKnownTree(rig.workspace.id).get('a')
  if (state?.kind !== 'file') throw new Error('a was captured')
  const { packedBlobs } = rig.deps
  const read = packedBlobs.read.bind(packedBlobs)
  const damaged = vi.spyOn(packedBlobs, 'read').mockImplementation((id) => {
    if (id === state.blob) throw new DomainError('BLOB_HASH_MISMATCH', { blob: id })
    return read(id)
  })
  const first = await rig.turn(() => rig.write('a', 'by the agent'))
  const second = await rig.turn(() => rig.write('b', 'by the agent'))
  damaged.mockRestore()
  expect([first, second].map(({ entries }) => entries.map(({ path }) => path))).toEqual([['a'], ['b']])
})
