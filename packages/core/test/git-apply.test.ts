import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { filePatch, mergeTexts, type State } from '@turnback/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Git itself judges: what filePatch makes must turn one tree into the other, and be as git's own merge. */
const root = mkdtempSync(join(tmpdir(), 'turnback-apply-'))
const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

interface Item {
  readonly bytes: Buffer
  readonly mode: number
  readonly isLink?: boolean
}
const text = (value: string, mode = 0o644): Item => ({ bytes: Buffer.from(value, 'latin1'), mode })
const link = (target: string): Item => ({ bytes: Buffer.from(target), mode: 0, isLink: true })

function stateOf(item: Item | null): State {
  if (item === null) return { kind: 'absent' }
  if (item.isLink) return { kind: 'symlink', target: item.bytes.toString() }
  return { kind: 'file', blob: `p${sha256(item.bytes)}`, sizeBytes: item.bytes.length, mode: item.mode }
}

function put(folder: string, path: string, item: Item | null): void {
  const file = join(folder, path)
  rmSync(file, { force: true })
  if (item === null) return
  mkdirSync(dirname(file), { recursive: true })
  if (item.isLink) symlinkSync(item.bytes.toString(), file)
  else {
    writeFileSync(file, item.bytes)
    chmodSync(file, item.mode)
  }
}

function get(folder: string, path: string): Item | null {
  const file = join(folder, path)
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return null
  if (stat.isSymbolicLink()) return link(readlinkSync(file))
  return { bytes: readFileSync(file), mode: stat.mode & 0o777 }
}

const lines = Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join('')
const cases: Record<string, [Item | null, Item | null]> = {
  'edited.txt': [text(lines), text(lines.replace('line 3\n', '').replace('line 40\n', 'forty\nand more\n'))],
  'new.txt': [null, text('one\ntwo\n')],
  'new-empty': [null, text('')],
  'gone.txt': [text('one\ntwo\n'), null],
  'gone-empty': [text(''), null],
  'to-empty': [text('a\nb\n'), text('')],
  'from-empty': [text(''), text('a\nb\n')],
  'no-newline': [text('a\nb'), text('a\nc')],
  'newline-lost': [text('a\nb\n'), text('a\nb')],
  'newline-won': [text('a\nb'), text('a\nb\n')],
  'mode.sh': [text('#!/bin/sh\n'), text('#!/bin/sh\n', 0o755)],
  'mode-and-text.sh': [text('#!/bin/sh\n', 0o755), text('#!/bin/sh\necho\n')],
  'latin1.txt': [text('caf\xe9\nx\n'), text('caf\xe9\nth\xe9\n')],
  'crlf.txt': [text('a\r\nb\r\n'), text('a\r\nc\r\n')],
  'with space.txt': [text('a\n'), text('b\n')],
  'ünïcode-日本.txt': [text('a\n'), text('b\n')],
  'quote"back\\slash\ttab.txt': [text('a\n'), text('b\n')],
  'new with space': [null, text('x\n')],
  link: [link('here'), link('there')],
  'new-link': [null, link('target')],
  'gone-link': [link('target'), null],
  'file-to-link': [text('a\n'), link('b')],
  'link-to-file': [link('b'), text('a\n', 0o755)],
  'sub/dir/file': [null, text('deep\n')],
  'replaced.txt': [text(lines), text(lines.toUpperCase())],
}

beforeAll(() => {
  execFileSync('git', ['init', '-q', root], { env })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function patchOf(path: string, [before, after]: [Item | null, Item | null]): Buffer {
  const side = (item: Item | null) => ({
    state: stateOf(item),
    bytes: item === null || item.isLink ? null : item.bytes,
  })
  return Buffer.from(filePatch(path, side(before), side(after), sha256).patch)
}

function apply(folder: string, patch: Buffer, ...options: string[]): void {
  execFileSync('git', ['apply', '--whitespace=nowarn', ...options, '-'], {
    cwd: folder,
    env,
    input: patch,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

describe('git apply takes the patch', () => {
  for (const [path, pair] of Object.entries(cases)) {
    it(`of ${JSON.stringify(path)}, there and back`, () => {
      const [before, after] = pair
      put(root, path, before)
      const patch = patchOf(path, pair)
      apply(root, patch)
      expect(get(root, path)).toEqual(
        after === null ? null : after.isLink ? link(after.bytes.toString()) : after,
      )
      apply(root, patch, '--reverse')
      expect(get(root, path)?.bytes).toEqual(before?.bytes)
      put(root, path, null)
    })
  }

  it('of everything at once, with what git cannot take in between', () => {
    const binary: [Item, Item] = [text('\0a'), text('\0b')]
    const otherMode: [Item, Item] = [text('x\n'), text('x\n', 0o600)]
    const all: [string, [Item | null, Item | null]][] = [
      ...Object.entries(cases),
      ['z.bin', binary],
      ['z.mode', otherMode],
      ['z.txt', [text('a\n'), text('b\n')]],
    ]
    for (const [path, [before]] of all) put(root, path, before)
    apply(root, Buffer.concat(all.map(([path, pair]) => patchOf(path, pair))))
    for (const [path, [, after]] of all.filter(([path]) => !/bin|z.mode/.test(path))) {
      expect(get(root, path)?.bytes, path).toEqual(after?.bytes)
    }
    expect(existsSync(join(root, 'gone.txt'))).toBe(false)
  })
})

describe('mergeTexts', () => {
  it('agrees with git merge-file on edits that lie apart, and never merges what git calls a conflict', () => {
    let state = 12345
    const below = (n: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      return (state >>> 8) % n
    }
    let clean = 0
    for (let round = 0; round < 120; round++) {
      const base = Array.from({ length: 12 }, (_, i) => `line ${i}`)
      const edit = (mark: string): string[] => {
        const out = [...base]
        for (let k = 0; k <= below(2); k++) {
          const at = below(out.length)
          const how = below(3)
          if (how === 0) out[at] = `${mark} ${below(3)}`
          else if (how === 1) out.splice(at, 1)
          else out.splice(at, 0, `${mark} new ${below(3)}`)
        }
        return out
      }
      const [ours, theirs] = [edit('us'), edit('them')]
      const files = { base, ours, theirs }
      for (const [name, list] of Object.entries(files))
        writeFileSync(join(root, `m-${name}`), `${list.join('\n')}\n`)
      const read = (name: string): Uint8Array => readFileSync(join(root, `m-${name}`))
      const merged = mergeTexts(read('base'), read('ours'), read('theirs'))
      if (merged === null) continue
      const byGit = execFileSync('git', ['merge-file', '-p', 'm-ours', 'm-base', 'm-theirs'], {
        cwd: root,
        env,
      })
      expect(Buffer.from(merged).toString()).toBe(byGit.toString())
      clean++
    }
    expect(clean).toBeGreaterThan(30)
  })
})
