import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { SeededRandom, textFile } from '#testing/index.ts'
import type { State } from '#tree/state.ts'
import { differOnlyInLineEnds, isText } from './binary.ts'
import { utf8Bytes } from './bytes.ts'
import { diffHunks, hunkId, revertHunks } from './hunks.ts'
import { diffLines } from './line-diff.ts'
import { byteString, bytesOf, joinLines, splitLines } from './lines.ts'
import { mergeTexts } from './merge.ts'
import { matchBySearch } from './search.ts'
import { filePatch } from './unified.ts'

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const b = (text: string): Uint8Array => utf8Bytes(text)
const numbered = (count: number, prefix = 'line'): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix} ${i}\n`)

/** Lines of few kinds, so that equal lines are common. */
function randomLines(random: SeededRandom, kinds: number): string[] {
  return Array.from({ length: random.below(14) }, () => `${random.below(kinds)}\n`)
}

/** Length of a longest common subsequence, by the table. */
function commonLength(a: readonly string[], c: readonly string[]): number {
  let row = new Array<number>(c.length + 1).fill(0)
  for (const line of a) {
    const next = [0]
    for (const [j, other] of c.entries()) {
      next.push(line === other ? (row[j] ?? 0) + 1 : Math.max(next[j] ?? 0, row[j + 1] ?? 0))
    }
    row = next
  }
  return row[c.length] ?? 0
}

describe('diffLines', () => {
  it('leads from one text to the other, for any two texts', () => {
    const random = new SeededRandom(7)
    for (let i = 0; i < 3_000; i++) {
      const a = randomLines(random, 2 + random.below(6))
      const c = randomLines(random, 2 + random.below(6))
      const out = [...a]
      for (const change of diffLines(a, c).toReversed()) {
        out.splice(change.aStart, change.aEnd - change.aStart, ...c.slice(change.bStart, change.bEnd))
      }
      expect(out).toEqual(c)
    }
  })

  it('its search finds a longest common part', () => {
    const random = new SeededRandom(8)
    for (let i = 0; i < 3_000; i++) {
      const [a, c] = [randomLines(random, 4), randomLines(random, 4)]
      const match = new Int32Array(a.length).fill(-1)
      const range = { aLo: 0, aHi: a.length, bLo: 0, bHi: c.length }
      matchBySearch(Int32Array.from(a, Number), Int32Array.from(c, Number), range, match, { stepsLeft: 1e6 })
      const places = [...match].filter((place) => place >= 0)
      expect(places).toEqual(places.toSorted((x, y) => x - y))
      for (const [at, place] of match.entries()) if (place >= 0) expect(a[at]).toBe(c[place])
      expect(places.length).toBe(commonLength(a, c))
    }
  })

  it('takes no seconds on 10,000 lines that are all different, shuffled, or all alike', () => {
    const random = new SeededRandom(9)
    const repeated = (): string[] => Array.from({ length: 10_000 }, () => `${random.below(40)}\n`)
    const pairs: [string[], string[]][] = [
      [numbered(10_000), numbered(10_000, 'other')],
      [numbered(10_000), numbered(10_000).reverse()],
      [repeated(), repeated()],
      [new Array<string>(10_000).fill('x\n'), new Array<string>(9_000).fill('x\n')],
    ]
    for (const [a, c] of pairs) {
      const start = process.threadCpuUsage()
      diffLines(a, c)
      const { user, system } = process.threadCpuUsage(start)
      expect((user + system) / 1000).toBeLessThan(1_000)
    }
  })
})

describe('mergeTexts', () => {
  it('joins changes that lie apart, takes equal ones once, refuses those that touch', () => {
    const base = b('1\n2\n3\n4\n5\n')
    expect(mergeTexts(base, b('one\n2\n3\n4\n5\n'), b('1\n2\n3\n4\nfive\n'))).toEqual(
      b('one\n2\n3\n4\nfive\n'),
    )
    expect(mergeTexts(base, b('one\n2\n3\n4\n5\n'), b('one\n2\n3\n4\n5\n'))).toEqual(b('one\n2\n3\n4\n5\n'))
    expect(mergeTexts(base, b('one\n2\n3\n4\n5\n'), b('uno\n2\n3\n4\n5\n'))).toBeNull()
    expect(mergeTexts(base, b('1\ntwo\n3\n4\n5\n'), b('1\n2\nthree\n4\n5\n'))).toBeNull()
    expect(mergeTexts(base, b('0\n1\n2\n3\n4\n5\n'), b('1\n2\n3\n4\n'))).toEqual(b('0\n1\n2\n3\n4\n'))
  })

  it('one side unchanged gives the other, whatever the texts', () => {
    const random = new SeededRandom(10)
    for (let i = 0; i < 1_000; i++) {
      const [base, other] = [joinLines(randomLines(random, 4)), joinLines(randomLines(random, 4))]
      expect(mergeTexts(base, other, base)).toEqual(other)
      expect(mergeTexts(base, base, other)).toEqual(other)
      expect(mergeTexts(base, other, other)).toEqual(other)
    }
  })

  it('gives the same from both sides', () => {
    const random = new SeededRandom(11)
    let clean = 0
    for (let i = 0; i < 3_000; i++) {
      const [base, ours, theirs] = [0, 1, 2].map(() => joinLines(randomLines(random, 9)))
      if (base === undefined || ours === undefined || theirs === undefined) throw new Error('no texts')
      const merged = mergeTexts(base, ours, theirs)
      if (merged !== null) clean++
      expect(merged).toEqual(mergeTexts(base, theirs, ours))
    }
    expect(clean).toBeGreaterThan(20)
  })

  it('is byte for byte on text that is not UTF-8, and refuses binary', () => {
    const base = Uint8Array.of(0xe9, 10, 65, 10, 66, 10, 0xff, 10)
    const ours = Uint8Array.of(0xe8, 10, 65, 10, 66, 10, 0xff, 10)
    const theirs = Uint8Array.of(0xe9, 10, 65, 10, 66, 10, 0xfe, 10)
    expect(mergeTexts(base, ours, theirs)).toEqual(Uint8Array.of(0xe8, 10, 65, 10, 66, 10, 0xfe, 10))
    expect(mergeTexts(base, Uint8Array.of(0, 10), base)).toBeNull()
  })
})

describe('hunks', () => {
  const before = b(numbered(40).join(''))
  const after = b(numbered(40).join('').replace('line 3\n', 'three\n').replace('line 30\n', ''))

  it('have headers and ids as they stand in the diff', () => {
    const hunks = diffHunks(before, after)
    expect(hunks.map((hunk) => hunk.header)).toEqual(['@@ -1,7 +1,7 @@', '@@ -28,7 +28,6 @@'])
    const [first] = hunks
    if (first === undefined) throw new Error('no hunk')
    expect(first.text).toBe(
      '@@ -1,7 +1,7 @@\n line 0\n line 1\n line 2\n-line 3\n+three\n line 4\n line 5\n line 6\n',
    )
    expect(hunkId(first, sha256)).toBe(sha256(bytesOf(first.text)).slice(0, 8))
  })

  it('are taken back one by one, also in a text that was edited elsewhere; not where it was edited', () => {
    const ids = diffHunks(before, after).map((hunk) => hunkId(hunk, sha256))
    const edited = (from: string, to: string): Uint8Array => bytesOf(byteString(after).replace(from, to))
    const revert = (now: Uint8Array, ...some: (string | undefined)[]): Uint8Array | null =>
      revertHunks(
        now,
        before,
        after,
        some.map((id) => id ?? ''),
        sha256,
      )
    expect(revert(after, ...ids)).toEqual(before)
    expect(revert(after, ids[0])).toEqual(edited('three\n', 'line 3\n'))
    expect(revert(edited('line 15\n', 'mine\n'), ids[0])).toEqual(
      bytesOf(byteString(edited('line 15\n', 'mine\n')).replace('three\n', 'line 3\n')),
    )
    expect(revert(edited('three\n', 'drei\n'), ids[0])).toBeNull()
    expect(revert(after, 'ffffffff')).toBeNull()
  })
})

describe('text or not', () => {
  it('a NUL makes it binary; line ends alone are told from other changes', () => {
    expect(isText(b('a\nb'))).toBe(true)
    expect(isText(Uint8Array.of(65, 0, 66))).toBe(false)
    expect(differOnlyInLineEnds(b('a\nb\n'), b('a\r\nb\r\n'))).toBe(true)
    expect(differOnlyInLineEnds(b('a\nb\n'), b('a\r\nB\r\n'))).toBe(false)
    expect(differOnlyInLineEnds(b('a\n'), b('a\n'))).toBe(false)
  })

  it('any bytes come back from lines', () => {
    const all = Uint8Array.from({ length: 1024 }, (_, i) => (i * 7) % 256)
    expect(joinLines(splitLines(all))).toEqual(all)
    expect(utf8Bytes('aé€😀\ud800')).toEqual(new TextEncoder().encode('aé€😀\ud800'))
  })
})

describe('filePatch', () => {
  const side = (state: State, bytes: Uint8Array | null = null) => ({ state, bytes })
  const patchOf = (path: string, before: State, after: State): string => {
    const bytes = (state: State): Uint8Array | null => (state.kind === 'file' ? b(state.blob.slice(1)) : null)
    return byteString(filePatch(path, side(before, bytes(before)), side(after, bytes(after)), sha256).patch)
  }
  const absent: State = { kind: 'absent' }

  it('says what git cannot take in a line of words', () => {
    expect(patchOf('x', textFile('a\n', 0o644), textFile('a\n', 0o600))).toBe('Mode of x was 0644, is 0600\n')
    expect(patchOf('x', absent, textFile('\0'))).toBe('Binary files /dev/null and b/x differ\n')
    expect(patchOf('x', absent, { kind: 'skipped', reason: 'too-large' })).toBe(
      'Not captured: x (too-large)\n',
    )
    expect(patchOf('d', absent, { kind: 'dir', mode: 0o755 })).toBe('')
  })

  it('names and counts', () => {
    const patch = filePatch('a b/é', side(absent), side(textFile('1\n2'), b('1\n2')), sha256)
    expect(patch).toMatchObject({ status: 'added', additions: 2, deletions: 0, binary: false })
    expect(byteString(patch.patch)).toBe(
      'diff --git "a/a b/\\303\\251" "b/a b/\\303\\251"\nnew file mode 100644\n--- /dev/null\n+++ "b/a b/\\303\\251"\t\n@@ -0,0 +1,2 @@\n+1\n+2\n\\ No newline at end of file\n',
    )
  })
})
