import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BlobId, DomainError, type FileState, makeId, type RelPath, type State } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StepOutcome, TreeStep, TreeWriter } from '#ports.ts'
import { type Anchoring, treeRootOf } from '#worktree/anchored.ts'
import { readPiecesOf } from '#worktree/look.ts'
import { createTreeWriter, type WriterOptions } from '#worktree/tree-writer.ts'

const blobs = new Map<BlobId, Buffer>()
const idOf = (bytes: Uint8Array): BlobId => `p${createHash('sha256').update(bytes).digest('hex')}`
let top = ''
let root = ''
let seed = 0

function fileState(text: string, mode = 0o644): FileState {
  const bytes = Buffer.from(text)
  blobs.set(idOf(bytes), bytes)
  return { kind: 'file', blob: idOf(bytes), sizeBytes: bytes.length, mode }
}

function writerFor(more: Partial<WriterOptions> = {}): TreeWriter {
  return createTreeWriter({
    workspace: { ...treeRootOf(root), id: makeId('w', 1, new Uint8Array(10)) },
    restore: makeId('r', 1, new Uint8Array(10).fill(7)),
    blobs: {
      readPieces(id, take) {
        const bytes = blobs.get(id)
        if (bytes === undefined) throw new DomainError('BLOB_NOT_FOUND', { id })
        take(bytes)
      },
      idOfOpenFile(_workspace, fd) {
        const hash = createHash('sha256')
        let sizeBytes = 0
        readPiecesOf(fd, (piece) => {
          hash.update(piece)
          sizeBytes += piece.length
        })
        return { blob: `p${hash.digest('hex')}`, sizeBytes }
      },
    },
    random: (bytes) => Uint8Array.from({ length: bytes }, () => seed++),
    ...more,
  })
}

const put = (path: string, text: string, mode = 0o644): FileState => {
  mkdirSync(join(root, path, '..'), { recursive: true })
  writeFileSync(join(root, path), text)
  chmodSync(join(root, path), mode)
  return fileState(text, mode)
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const modeOf = (path: string): number => lstatSync(join(root, path)).mode & 0o7777
const ABSENT: State = { kind: 'absent' }
const leftovers = (): string[] =>
  readdirSync(root, { recursive: true })
    .map(String)
    .filter((n) => n.includes('.turnback-'))

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'write-'))
  root = join(top, 'w')
  mkdirSync(root)
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

describe.each<Anchoring>(process.platform === 'linux' ? ['descriptor', 'checked'] : ['checked'])(
  'by %s',
  (anchoring) => {
    const apply = (path: RelPath, from: State, to: State, more: Partial<WriterOptions> = {}) =>
      writerFor({ anchoring, ...more }).apply({ path, from, to }, 0)

    test('a file gets other bytes and mode under a new inode, and nothing is left beside it', () => {
      const from = put('src/a.sh', 'agent')
      linkSync(join(root, 'src/a.sh'), join(top, 'other-name'))
      const outcome = apply('src/a.sh', from, fileState('mine\n', 0o755))
      expect(outcome, 'and it is said that they part').toEqual({ ok: true, lost: ['hard-link'] })
      expect(read('src/a.sh')).toBe('mine\n')
      expect(modeOf('src/a.sh')).toBe(0o755)
      expect(readFileSync(join(top, 'other-name'), 'utf8'), 'a hard link elsewhere keeps its bytes').toBe(
        'agent',
      )
      expect(leftovers()).toEqual([])
    })

    test('a mode alone is a chmod: inode and mtime stay', () => {
      const from = put('a', 'x', 0o755)
      const before = statSync(join(root, 'a'))
      expect(apply('a', from, { ...from, mode: 0o600 })).toEqual({ ok: true })
      const after = statSync(join(root, 'a'))
      expect([after.ino, after.mtimeMs, after.mode & 0o7777]).toEqual([before.ino, before.mtimeMs, 0o600])
    })

    test('set-id bits are never given', () => {
      const from = put('a', 'x')
      apply('a', from, fileState('y', 0o6755))
      expect(modeOf('a')).toBe(0o755)
    })

    test('files, links and directories are made, changed into each other and removed', () => {
      const file = fileState('text')
      const link: State = { kind: 'symlink', target: '../outside' }
      const dir: State = { kind: 'dir', mode: 0o750 }
      const ways: State[] = [
        ABSENT,
        file,
        link,
        dir,
        file,
        dir,
        link,
        file,
        ABSENT,
        link,
        dir,
        ABSENT,
        dir,
        link,
        ABSENT,
      ]
      for (let i = 1; i < ways.length; i++) {
        const [from = ABSENT, to = ABSENT] = ways.slice(i - 1, i + 1)
        expect(apply('p', from, to), `${from.kind} to ${to.kind}`).toEqual({ ok: true })
        expect(writerFor({ anchoring }).holds('p', to), `${from.kind} to ${to.kind}`).toBe(true)
        expect(leftovers()).toEqual([])
      }
    })

    test('a path that is not as the step says is left alone', () => {
      const agent = fileState('agent')
      const mine = fileState('mine')
      put('a', 'agent, then a hand')
      expect(apply('a', agent, mine)).toEqual({ ok: false, why: 'changed' })
      expect(apply('a', agent, ABSENT)).toEqual({ ok: false, why: 'changed' })
      expect(apply('a', ABSENT, mine)).toEqual({ ok: false, why: 'changed' })
      expect(apply('a', { kind: 'symlink', target: 'x' }, mine)).toEqual({ ok: false, why: 'changed' })
      expect(apply('a', { kind: 'dir', mode: 0o755 }, ABSENT)).toEqual({ ok: false, why: 'changed' })
      expect(apply('none', agent, ABSENT)).toEqual({ ok: false, why: 'changed' })
      expect(read('a')).toBe('agent, then a hand')
      put('b', 'agent', 0o600)
      expect(apply('b', agent, ABSENT), 'another mode is another state').toEqual({
        ok: false,
        why: 'changed',
      })
      expect(leftovers()).toEqual([])
    })

    test('a directory with something in it stays', () => {
      put('d/user.txt', 'mine')
      const dir: State = { kind: 'dir', mode: modeOf('d') }
      expect(apply('d', dir, ABSENT)).toEqual({ ok: false, why: 'not-empty' })
      expect(apply('d', dir, fileState('x'))).toEqual({ ok: false, why: 'not-empty' })
      expect(read('d/user.txt')).toBe('mine')
      expect(leftovers()).toEqual([])
    })

    test('a parent that is a link, a file or missing blocks the path, and nothing outside is touched', () => {
      mkdirSync(join(top, 'outside'))
      writeFileSync(join(top, 'outside/a'), 'agent')
      symlinkSync('../outside', join(root, 'link'))
      put('file', 'x')
      const agent = fileState('agent')
      expect(apply('link/a', agent, fileState('v1'))).toEqual({ ok: false, why: 'blocked', by: 'link' })
      expect(apply('link/a', agent, ABSENT)).toEqual({ ok: false, why: 'blocked', by: 'link' })
      expect(apply('file/a', ABSENT, agent)).toEqual({ ok: false, why: 'blocked', by: 'not-a-directory' })
      expect(apply('none/a', ABSENT, agent)).toEqual({ ok: false, why: 'blocked', by: 'missing' })
      expect(readFileSync(join(top, 'outside/a'), 'utf8')).toBe('agent')
      expect(writerFor({ anchoring }).holds('link/a', agent)).toBe(false)
    })

    test('a root that is another directory than the registered one blocks everything', () => {
      const from = put('a', 'x')
      const writer = writerFor({
        anchoring,
        workspace: { ...treeRootOf(root), inode: '1', id: makeId('w', 1, new Uint8Array(10)) },
      })
      expect(writer.apply({ path: 'a', from, to: ABSENT }, 0)).toEqual({
        ok: false,
        why: 'blocked',
        by: 'missing',
      })
    })

    test.each([
      '.git/config',
      'sub/.GIT',
      '../x',
      'a/../../x',
      '/etc/x',
      '.turnback-new-0123456789abcdef-3-00112233',
    ])('the path %s is refused', (path) => {
      expect(apply(path, ABSENT, fileState('x'))).toMatchObject({
        ok: false,
        why: 'error',
        code: 'OUTSIDE_ROOT',
      })
    })

    test('missing and damaged bytes are told apart from trouble of the disk', () => {
      const from = put('a', 'agent')
      const gone: FileState = { ...fileState('v1'), blob: `p${'0'.repeat(64)}` }
      expect(apply('a', from, gone)).toEqual({ ok: false, why: 'missing-blob' })
      expect(apply('a', from, { ...fileState('v1'), sizeBytes: 99 })).toEqual({
        ok: false,
        why: 'missing-blob',
      })
      expect(read('a')).toBe('agent')
      expect(leftovers()).toEqual([])
    })

    test.each(['write', 'sync', 'place'] as const)('a full disk at "%s" leaves the file as it was', (at) => {
      const from = put('a', 'agent')
      const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
        code: 'ENOSPC',
        syscall: 'write',
      })
      const onMoment = (moment: string): void => {
        if (moment === at) throw full
      }
      expect(apply('a', from, fileState('v1'), { onMoment })).toMatchObject({
        ok: false,
        why: 'error',
        code: 'ENOSPC',
      })
      expect(read('a')).toBe('agent')
      expect(leftovers()).toEqual([])
    })

    test('an edit into the file after the last look goes back under its name', () => {
      const from = put('a', 'agent')
      const onMoment = (moment: string): void => {
        if (moment === 'rename') writeFileSync(join(root, 'a'), 'a late edit')
      }
      expect(apply('a', from, fileState('v1'), { onMoment })).toEqual({ ok: false, why: 'changed' })
      expect(read('a')).toBe('a late edit')
      expect(leftovers()).toEqual([])
    })

    test('an edit in the moment of the rename goes back without any room, and is not lost by a kill', () => {
      const from = put('a', 'agent')
      const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' })
      const step = { path: 'a', from, to: fileState('v1') }
      const late = (moment: string): void => {
        if (moment !== 'rename' && moment !== 'unlink') return
        if (moment === 'rename') writeFileSync(join(root, 'a'), 'a late edit')
        // Whoever is killed here does nothing more.
        else throw full
      }
      expect(apply('a', from, step.to, { onMoment: late })).toMatchObject({ code: 'ENOSPC' })
      expect([read('a'), leftovers().length]).toEqual(['v1', 1])
      writerFor({ anchoring }).settle([step], [])
      expect([read('a'), leftovers()]).toEqual(['a late edit', []])
    })

    test('a file that was moved under the name at the last moment goes back', () => {
      const from = put('a', 'agent')
      put('b', 'an editor’s save')
      const onMoment = (moment: string): void => {
        if (moment === 'link') renameSync(join(root, 'b'), join(root, 'a'))
      }
      expect(apply('a', from, fileState('v1'), { onMoment })).toEqual({ ok: false, why: 'changed' })
      expect([read('a'), leftovers()]).toEqual(['an editor’s save', []])
    })

    test('a second name that a kill left over is removed, before and after the rename, forth and back', () => {
      const from = put('a', 'agent')
      const to = fileState('v1')
      const tag = makeId('r', 1, new Uint8Array(10).fill(7)).slice(-16)
      const aside = `.turnback-old-${tag}-0-00000000`
      const settle = () => writerFor({ anchoring }).settle([{ path: 'a', from, to }], [])
      linkSync(join(root, 'a'), join(root, aside))
      settle()
      expect([read('a'), leftovers()]).toEqual(['agent', []])
      put(aside, 'agent')
      put('a', 'v1')
      settle()
      expect([read('a'), leftovers()]).toEqual(['v1', []])
      // A run that went back had put the old bytes over the new ones.
      put(aside, 'v1')
      put('a', 'agent')
      settle()
      expect([read('a'), leftovers()]).toEqual(['agent', []])
      // Somebody has taken the name meanwhile: both stay.
      put(aside, 'a late edit')
      put('a', 'another')
      settle()
      expect([read('a'), leftovers()]).toEqual(['another', [aside]])
    })

    test('what was put under the name while the old file went aside is kept', () => {
      const from = put('a', 'agent')
      const onMoment = (moment: string): void => {
        if (moment !== 'unlink') return
        const [aside = ''] = leftovers()
        writeFileSync(join(root, aside), 'a late edit')
      }
      expect(apply('a', from, ABSENT, { onMoment })).toEqual({ ok: false, why: 'changed' })
      expect(read('a')).toBe('a late edit')
      expect(leftovers()).toEqual([])
    })

    test('settle removes what was begun, puts back what is not ours to remove, and narrows folders', () => {
      const steps = [
        { path: 'd/in', from: ABSENT, to: fileState('new') },
        { path: 'd/out', from: fileState('agent'), to: ABSENT },
        { path: 'd/late', from: fileState('agent'), to: ABSENT },
      ]
      const tag = makeId('r', 1, new Uint8Array(10).fill(7)).slice(-16)
      put(`d/.turnback-new-${tag}-0-00000000`, 'half')
      put(`d/.turnback-old-${tag}-1-00000000`, 'agent')
      put(`d/.turnback-old-${tag}-2-00000000`, 'agent, then a hand')
      put('d/.turnback-new-0000000000000000-0-00000000', 'of another run')
      chmodSync(join(root, 'd'), 0o755)
      writerFor({ anchoring }).settle(steps, [{ path: 'd', mode: 0o555 }])
      expect(readdirSync(join(root, 'd')).toSorted()).toEqual([
        '.turnback-new-0000000000000000-0-00000000',
        'late',
      ])
      expect(read('d/late')).toBe('agent, then a hand')
      expect(modeOf('d')).toBe(0o555)
    })
  },
)

describe('names that are not text', () => {
  test('bytes of a name go through', () => {
    const name = Buffer.from([0x66, 0xff, 0x6f])
    const path = `b64:${name.toString('base64url')}`
    expect(writerFor().apply({ path, from: ABSENT, to: fileState('x') }, 0)).toEqual({ ok: true })
    expect(readdirSync(Buffer.from(root), { encoding: 'buffer' })).toEqual([name])
    const link: State = { kind: 'symlink', target: path }
    expect(writerFor().apply({ path: 'l', from: ABSENT, to: link }, 0)).toEqual({ ok: true })
    expect(readlinkSync(join(root, 'l'), 'buffer')).toEqual(name)
    expect(writerFor().holds('l', link)).toBe(true)
  })
})

/** Applies steps in a process of an ordinary user when this one is root, else here. */
function applyAsUser(steps: readonly TreeStep[], givesUp = false): StepOutcome[] {
  if (process.getuid?.() !== 0 && !givesUp) return steps.map((step, index) => writerFor().apply(step, index))
  chmodSync(top, 0o755)
  const job = JSON.stringify({
    root,
    steps,
    givesUp,
    blobs: [...blobs].map(([id, bytes]) => [id, bytes.toString('base64')]),
  })
  const run = spawnSync(process.execPath, [join(import.meta.dirname, 'support/write-as-user.ts')], {
    input: job,
    encoding: 'utf8',
    ...(process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  expect(run.stderr).toBe('')
  return JSON.parse(run.stdout)
}
const NOBODY = 65_534
const giveAway = (...paths: string[]): void => {
  if (process.getuid?.() === 0) for (const path of paths) chownSync(join(root, path), NOBODY, NOBODY)
}

describe('folders that are closed to writing', () => {
  test('narrowFolders names them', () => {
    put('ro/a', 'x')
    put('open/a', 'x')
    chmodSync(join(root, 'ro'), 0o555)
    expect(writerFor().narrowFolders(['ro/a', 'ro/b', 'open/a'])).toEqual([{ path: 'ro', mode: 0o555 }])
    chmodSync(join(root, 'ro'), 0o755)
  })

  test('an ordinary user’s own folder is opened for the step and closed again', () => {
    const a = put('ro/a', 'agent', 0o444)
    const b = put('ro/b', 'agent')
    giveAway('ro', 'ro/a', 'ro/b')
    chmodSync(join(root, 'ro'), 0o555)
    const done = applyAsUser([
      { path: 'ro/a', from: a, to: fileState('v1', 0o444) },
      { path: 'ro/b', from: b, to: ABSENT },
      { path: 'ro/c', from: ABSENT, to: fileState('new') },
      { path: 'ro/d', from: ABSENT, to: { kind: 'dir', mode: 0o555 } },
      { path: 'ro/d/e', from: ABSENT, to: fileState('below') },
    ])
    expect(done).toEqual(done.map(() => ({ ok: true })))
    expect([read('ro/a'), existsSync(join(root, 'ro/b')), read('ro/c'), read('ro/d/e')]).toEqual([
      'v1',
      false,
      'new',
      'below',
    ])
    expect([modeOf('ro'), modeOf('ro/a'), modeOf('ro/d')]).toEqual([0o555, 0o444, 0o555])
    for (const path of ['ro', 'ro/d']) chmodSync(join(root, path), 0o755)
  })

  test('nothing is left in one of what was begun in it and given up', () => {
    const from = put('ro/a', 'agent')
    giveAway('ro', 'ro/a')
    chmodSync(join(root, 'ro'), 0o555)
    const done = applyAsUser([{ path: 'ro/a', from, to: fileState('v1') }], true)
    expect(done).toEqual([{ ok: false, why: 'changed' }])
    expect([leftovers(), modeOf('ro'), read('ro/a')]).toEqual([[], 0o555, 'agent'])
    chmodSync(join(root, 'ro'), 0o755)
  })

  test('what could not be removed when its step failed is removed at the end', async () => {
    const from = put('d/a', 'agent')
    const onMoment = (moment: string): void => {
      if (moment === 'place') renameSync(join(root, 'd'), join(root, 'e'))
    }
    const writer = writerFor({ anchoring: 'checked', onMoment })
    const begun = writer.begin({ path: 'd/a', from, to: fileState('v1') }, 0)
    if (begun === null || 'ok' in begun) throw new Error('it was not begun')
    await begun.sync()
    expect(begun.finish()).toMatchObject({ ok: false, why: 'blocked' })
    renameSync(join(root, 'e'), join(root, 'd'))
    expect(leftovers()).toHaveLength(1)
    writer.close()
    expect([leftovers(), read('d/a')]).toEqual([[], 'agent'])
  })

  test.skipIf(process.getuid?.() !== 0)(
    'somebody else’s closed folder is a failed line with its code',
    () => {
      put('ro/a', 'agent')
      const [done] = applyAsUser([{ path: 'ro/c', from: ABSENT, to: fileState('new') }])
      expect(done).toMatchObject({ ok: false, why: 'error', code: 'EACCES' })
      expect(existsSync(join(root, 'ro/c'))).toBe(false)
    },
  )
})

test('on a disk that ignores case, what is there by another spelling only is not there', () => {
  // Here names differ by case, so the other spelling is a file of its own: what counts is that names are listed.
  const readme = put('Readme.md', 'x')
  const writer = writerFor({ ignoresCase: true })
  expect([writer.holds('Readme.md', readme), writer.holds('README.md', ABSENT)]).toEqual([true, true])
  expect(writer.look('README.md')).toEqual({ kind: 'absent' })
  expect(writer.look('Readme.md')).toMatchObject({ kind: 'file' })
})

describe('whose a file is', () => {
  const ownerOf = (path: string): number[] => {
    const { uid, gid } = lstatSync(join(root, path))
    return [uid, gid]
  }

  test.skipIf(process.getuid?.() !== 0)('stays when another takes its place by the hand of root', () => {
    const a = put('theirs/a', 'agent', 0o640)
    giveAway('theirs', 'theirs/a')
    expect(writerFor().apply({ path: 'theirs/a', from: a, to: fileState('v1', 0o640) }, 0)).toEqual({
      ok: true,
    })
    expect([...ownerOf('theirs/a'), modeOf('theirs/a'), read('theirs/a')]).toEqual([
      NOBODY,
      NOBODY,
      0o640,
      'v1',
    ])
  })

  test.skipIf(process.getuid?.() !== 0)('is said when nobody can tell whose it was', () => {
    put('theirs/a', 'x')
    giveAway('theirs')
    const made = { ok: true, lost: ['owner'] }
    const writer = writerFor()
    expect(writer.apply({ path: 'theirs/b', from: ABSENT, to: fileState('v1') }, 0)).toEqual(made)
    expect(writer.apply({ path: 'theirs/d', from: ABSENT, to: { kind: 'dir', mode: 0o755 } }, 1)).toEqual(
      made,
    )
    expect(
      writer.apply({ path: 'theirs/d/c', from: ABSENT, to: fileState('v1') }, 2),
      'in a folder of one’s own',
    ).toEqual({
      ok: true,
    })
    expect(ownerOf('theirs/b')[0]).toBe(0)
  })

  test.skipIf(process.getuid?.() !== 0)(
    'is not given with a secret: whose lies there may not be let read it',
    () => {
      const a = put('theirs/.env', 'put here')
      giveAway('theirs', 'theirs/.env')
      const secret = Buffer.from('KEY=1')
      const blob: BlobId = `s${'a'.repeat(52)}`
      blobs.set(blob, secret)
      const to: FileState = { kind: 'file', blob, sizeBytes: secret.length, mode: 0o600 }
      const outcome = writerFor().apply({ path: 'theirs/.env', from: a, to }, 0)
      expect(outcome).toEqual({ ok: true, lost: ['owner'] })
      expect([...ownerOf('theirs/.env'), modeOf('theirs/.env')]).toEqual([0, 0, 0o600])
    },
  )

  test.skipIf(process.getuid?.() !== 0)('is said of links, and of a file in place of what was none', () => {
    const lost = { ok: true, lost: ['owner'] }
    const link = (target: string): State => ({ kind: 'symlink', target })
    mkdirSync(join(root, 'theirs/d'), { recursive: true })
    for (const name of ['a', 'b']) symlinkSync('old', join(root, 'theirs', name))
    for (const name of ['a', 'b']) lchownSync(join(root, 'theirs', name), NOBODY, NOBODY)
    giveAway('theirs', 'theirs/d')
    const writer = writerFor()
    expect(writer.apply({ path: 'theirs/new', from: ABSENT, to: link('x') }, 0)).toEqual(lost)
    expect(writer.apply({ path: 'theirs/a', from: link('old'), to: link('x') }, 1)).toEqual(lost)
    expect(writer.apply({ path: 'theirs/b', from: link('old'), to: fileState('v1') }, 2)).toEqual(lost)
    const dir: State = { kind: 'dir', mode: modeOf('theirs/d') }
    expect(writer.apply({ path: 'theirs/d', from: dir, to: fileState('v1') }, 3)).toEqual(lost)
    expect(writer.apply({ path: 'own', from: ABSENT, to: link('x') }, 4)).toEqual({ ok: true })
  })

  test.skipIf(process.getuid?.() !== 0)('is said when who restores may not give it away', () => {
    const a = put('ours/a', 'roots')
    giveAway('ours')
    const [outcome] = applyAsUser([{ path: 'ours/a', from: a, to: fileState('v1') }])
    expect(outcome).toEqual({ ok: true, lost: ['owner'] })
  })
})
