import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig, entryOf, outline } from './support/capture-rig.ts'
import { differences, snapshotTree } from './support/tree-snapshot.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig()
})
afterEach(() => rig.dispose())

test('whatever changed is in the manifest, whoever wrote it', async () => {
  for (const path of ['edited', 'gone', 'mode', 'sub/deep/file', 'same']) rig.write(path, `${path} before`)
  symlinkSync('edited', rig.at('link'))
  symlinkSync('edited', rig.at('link-to-file'))
  mkdirSync(rig.at('empty'))
  await rig.init()

  const manifest = await rig.turn(() => {
    rig.write('edited', 'after')
    rmSync(rig.at('gone'))
    chmodSync(rig.at('mode'), 0o755)
    rmSync(rig.at('sub'), { recursive: true })
    writeFileSync(rig.at('sub'), 'a file now')
    rmSync(rig.at('link'))
    symlinkSync('elsewhere', rig.at('link'))
    rmSync(rig.at('link-to-file'))
    rig.write('link-to-file/in', 'a folder now')
    rmSync(rig.at('empty'), { recursive: true })
    mkdirSync(rig.at('made'), { mode: 0o711 })
  })

  expect(outline(manifest)).toEqual([
    'edited: file → file',
    'empty: dir → absent',
    'gone: file → absent',
    'link: symlink → symlink',
    'link-to-file: symlink → dir',
    'link-to-file/in: absent → file',
    'made: absent → dir',
    'mode: file → file',
    'sub: dir → file',
    'sub/deep: dir → absent',
    'sub/deep/file: file → absent',
  ])
  expect(rig.read(entryOf(manifest, 'edited'), 'before')).toBe('edited before')
  expect(rig.read(entryOf(manifest, 'edited'), 'after')).toBe('after')
  expect(rig.read(entryOf(manifest, 'sub/deep/file'), 'before')).toBe('sub/deep/file before')
  const mode = entryOf(manifest, 'mode')
  expect([mode.before, mode.after]).toMatchObject([{ mode: 0o644 }, { mode: 0o755 }])
  expect(entryOf(manifest, 'link').after).toEqual({ kind: 'symlink', target: 'elsewhere' })
  expect(entryOf(manifest, 'made').after).toEqual({ kind: 'dir', mode: 0o711 })
  expect(manifest.coverage).toMatchObject({ complete: true, files: 5 })
})

test('a turn that changes nothing has no entries and reads no file', async () => {
  rig.write('a', 'a')
  await rig.init()
  rig.aheadMs = 60_000
  await rig.begin()
  await rig.end()
  await rig.begin()
  const { row, hashed, statted } = await rig.end()
  expect({ entries: row.entries, hashed }).toEqual({ entries: 0, hashed: 0 })
  if (!rig.isResident) expect(statted).toBeGreaterThan(0)
})

test('names are bytes: not UTF-8, like our own escape, like patterns, with line ends', async () => {
  const raw = (name: Uint8Array) => Buffer.concat([Buffer.from(`${rig.root}/`), name])
  const odd = Buffer.from([0x66, 0xff, 0xfe])
  writeFileSync(raw(odd), 'old')
  for (const name of ['中文.md', 'b64:aGk', '[lang]', '*', 'a\nb', ' ', '-rf', 'é', 'e\u0301'])
    rig.write(name, 'old')
  mkdirSync(raw(Buffer.from([0x64, 0x80])))
  writeFileSync(raw(Buffer.from([0x64, 0x80, 0x2f, 0x78])), 'old')
  await rig.init()

  const manifest = await rig.turn(() => {
    for (const name of readdirSync(Buffer.from(rig.root), { encoding: 'buffer' })) {
      if (!statSync(raw(name)).isDirectory()) writeFileSync(raw(name), 'new')
    }
    writeFileSync(raw(Buffer.from([0x64, 0x80, 0x2f, 0x78])), 'new')
  })

  expect(manifest.entries.map(({ path }) => path)).toEqual(
    [
      '中文.md',
      `b64:${Buffer.from('b64:aGk').toString('base64url')}`,
      '[lang]',
      '*',
      'a\nb',
      ' ',
      '-rf',
      'é',
      'e\u0301',
      `b64:${odd.toString('base64url')}`,
      `b64:${Buffer.from([0x64, 0x80]).toString('base64url')}/x`,
    ].sort(),
  )
  for (const entry of manifest.entries) expect(rig.read(entry, 'before')).toBe('old')
})

test('FIFO, socket and device are named and never opened', async () => {
  await rig.init()
  const server = createServer()
  const turn = await rig.begin()
  execFileSync('mkfifo', [rig.at('pipe')])
  await new Promise<void>((done) => server.listen(rig.at('sock'), done))
  await rig.end()
  await new Promise((done) => server.close(done))
  const manifest = await rig.manifest(turn)
  expect(outline(manifest)).toEqual(['pipe: absent → special-file', 'sock: absent → special-file'])
  expect(manifest.skipped).toEqual([
    { path: 'pipe', reason: 'special-file' },
    { path: 'sock', reason: 'special-file' },
  ])
})

test('a file above the cap is named with its size; secrets and what the user names are captured all the same', async () => {
  mkdirSync(join(rig.top, 'home'), { recursive: true })
  writeFileSync(
    join(rig.top, 'home', 'config.json'),
    JSON.stringify({ maxFileBytes: 100, include: ['wanted.bin'] }),
  )
  const big = Buffer.alloc(101, 1)
  rig.write('big.bin', big)
  rig.write('just.bin', big.subarray(1))
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('other.bin', big)
    rig.write('local.sqlite', big)
    rig.write('wanted.bin', big)
    rig.write('big.bin', Buffer.alloc(150, 2))
  })
  expect(outline(manifest)).toEqual([
    'local.sqlite: absent → file',
    'other.bin: absent → too-large',
    'wanted.bin: absent → file',
  ])
  expect(manifest.skipped).toEqual([
    { path: 'big.bin', reason: 'too-large', sizeBytes: 150 },
    { path: 'other.bin', reason: 'too-large', sizeBytes: 101 },
  ])
  const shrunk = await rig.turn(() => rig.write('big.bin', 'small'))
  expect(outline(shrunk)).toEqual(['big.bin: too-large → file'])
})

test('`.git` is never captured: silent at the root, named in a nested repository whose files are captured', async () => {
  execFileSync('git', ['init', '-q', rig.root])
  rig.write('old/f', 'x')
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('.git/description', 'changed')
    execFileSync('git', ['init', '-q', rig.at('old')])
    rig.write('old/f', 'y')
    rig.write('linked/.git', 'gitdir: /elsewhere\n')
    mkdirSync(rig.at('.GIT'))
  })
  expect(outline(manifest)).toEqual([
    '.GIT: absent → special-file',
    'linked: absent → dir',
    'linked/.git: absent → nested-git-dir',
    'old/.git: absent → nested-git-dir',
    'old/f: file → file',
  ])
})

test('a workspace below another is one skipped path, and only while it is registered itself', async () => {
  rig.write('inner/f', 'x')
  await rig.init()
  const { json } = rig.run(['init', rig.at('inner'), '--json'])
  expect(json).toMatchObject({ root: rig.at('inner'), files: 1 })
  const manifest = await rig.turn(() => rig.write('inner/f', 'y'))
  expect(manifest.entries).toEqual([])
  expect(manifest.skipped).toEqual([{ path: 'inner', reason: 'nested-workspace' }])
  const other = rig.run(['begin', '--session', 'x', '--json'], { cwd: rig.at('inner') })
  expect(other.json).toMatchObject({ number: expect.any(Number) })
  expect(rig.run(['log', '--kind', 'outside', '--json'], { cwd: rig.at('inner') }).json).toMatchObject({
    turns: [{ kind: 'outside', changed: 1 }],
  })
})

test('dependency and cache directories are one path with count and bytes', async () => {
  rig.write('.gitignore', 'dist/\n')
  rig.write('dist/a.js', 'aaaa')
  rig.write('vendor/lib.c', 'somebody’s own')
  rig.write('target/CACHEDIR.TAG', 'Signature: 8a477f597d28d172789f06886806bc55\n')
  rig.write('sub/node_modules/p/index.js', '12345')
  rig.write('sub/node_modules/q/.env', '123')
  rig.write('node_modules.txt', 'a file')
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('dist/b.js', 'bb')
    rig.write('vendor/lib.c', 'changed')
    rig.write('sub/node_modules/r', '1')
    rig.write('build/made.js', 'by the turn')
    rig.write('node_modules/x', 'x')
  })
  expect(outline(manifest)).toEqual([
    'build: absent → dir',
    'build/made.js: absent → file',
    'node_modules: absent → excluded-directory',
    'vendor/lib.c: file → file',
  ])
  expect(manifest.skipped).toEqual([
    { path: 'dist', reason: 'excluded-directory', sizeBytes: 6, count: 2 },
    { path: 'node_modules', reason: 'excluded-directory', sizeBytes: 1, count: 1 },
    // A change deep inside does not touch the directory itself: the count is the one of its last change.
    { path: 'sub/node_modules', reason: 'excluded-directory', sizeBytes: 9, count: 3 },
    { path: 'target', reason: 'excluded-directory', sizeBytes: 44, count: 1 },
  ])
})

test('an ambiguous directory that a turn makes is captured until it grows too big', async () => {
  await rig.init()
  await rig.turn(() => rig.write('out/first', 'x'))
  const grown = await rig.turn(() => {
    for (let i = 0; i < 2001; i++) rig.write(`out/${i}`, '')
  })
  expect(entryOf(grown, 'out').after).toEqual({ kind: 'skipped', reason: 'excluded-directory' })
  expect(entryOf(grown, 'out/first').after).toEqual({ kind: 'skipped', reason: 'excluded-directory' })
  expect(grown.entries).toHaveLength(2)
  expect(grown.skipped).toMatchObject([{ path: 'out', count: 2002 }])
  const later = await rig.turn(() => rmSync(rig.at('out/0')))
  expect(later.entries).toEqual([])
})

test('a rewrite of the same size with the old modification time is seen', async () => {
  // A whole second is kept exactly, so nothing but the change time can tell.
  const old = new Date(1_600_000_000_000)
  rig.write('f', 'aaaa')
  utimesSync(rig.at('f'), old, old)
  const { mtimeNs, ino } = statSync(rig.at('f'), { bigint: true })
  rig.aheadMs = 60_000
  await rig.init()
  const manifest = await rig.turn(() => {
    rig.write('f', 'bbbb')
    utimesSync(rig.at('f'), old, old)
  })
  expect(statSync(rig.at('f'), { bigint: true })).toMatchObject({ mtimeNs, ino, size: 4n })
  expect(rig.read(entryOf(manifest, 'f'), 'after')).toBe('bbbb')
})

test('a touch is no change', async () => {
  rig.write('f', 'aaaa')
  symlinkSync('f', rig.at('l'))
  await rig.init()
  const manifest = await rig.turn(() => {
    utimesSync(rig.at('f'), 1, 1)
    lutimesSync(rig.at('l'), 1, 1)
    renameSync(rig.at('f'), rig.at('g'))
    renameSync(rig.at('g'), rig.at('f'))
  })
  expect(manifest.entries).toEqual([])
})

test('a file that is written to while it is read is tried again, then named and not stored', async () => {
  await rig.init()
  const writeOnRead = (times: number) => {
    const { deps } = rig
    const put = deps.packedBlobs.putOpenFile.bind(deps.packedBlobs)
    let left = times
    deps.packedBlobs.putOpenFile = (workspace, fd, sealed) => {
      const stored = put(workspace, fd, sealed)
      if (left-- > 0) {
        const other = openSync(rig.at('log'), 'a')
        writeSync(other, 'more')
        closeSync(other)
      }
      return stored
    }
    return () => {
      deps.packedBlobs.putOpenFile = put
    }
  }
  const endWhileWriting = async (times: number) => {
    const turn = await rig.begin()
    rig.write('log', `begun ${times} `)
    const undo = writeOnRead(times)
    await rig.end()
    undo()
    return rig.manifest(turn)
  }
  const calm = await endWhileWriting(2)
  expect(rig.read(entryOf(calm, 'log'), 'after')).toBe(`begun 2 ${'more'.repeat(2)}`)
  expect(outline(await endWhileWriting(100))).toEqual(['log: file → changed-while-reading'])
  const next = await rig.turn(() => {})
  expect(next.entries).toEqual([])
  expect(rig.deps.log.getKnownTree(rig.workspace.id).get('log')).toMatchObject({ kind: 'file' })
})

test('capture writes nothing into the tree, its `.git`, or the user’s home', async () => {
  execFileSync('git', ['init', '-q', rig.root])
  rig.write('f', 'x')
  const before = snapshotTree(rig.top, ['home'])
  const index = readFileSync(rig.at('.git/HEAD'))
  expect(rig.run(['init', '--json']).code).toBe(0)
  expect(rig.run(['begin', '--session', 's', '--json']).code).toBe(0)
  expect(rig.run(['end', '--session', 's', '--json']).code).toBe(0)
  expect(rig.run(['checkpoint', '--json']).code).toBe(0)
  expect(differences(before, snapshotTree(rig.top, ['home']))).toEqual([])
  expect(readFileSync(rig.at('.git/HEAD'))).toEqual(index)
})

test('the store lies inside the tree when it was put there, and is not captured', async () => {
  rig.env.TURNBACK_HOME = rig.at('.turnback')
  rig.write('f', 'x')
  const { json } = rig.run(['init', '--json'])
  expect(json).toMatchObject({ files: 1, skipped: [] })
  expect(spawnSync('git', ['--version']).status).toBe(0)
})
