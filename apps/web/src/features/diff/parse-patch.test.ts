import { describe, expect, it } from 'vitest'
import { changedSpans, markChanges, parsePatch } from './parse-patch.ts'

const patch = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,4 +1,4 @@ function draw() {
 one
--- two
+++ two!
 three
 four
@@ -10 +10,2 @@
-ten
+ten
+eleven
\\ No newline at end of file
`

describe('parsePatch', () => {
  it('numbers each line on its side', () => {
    const [first, second] = parsePatch(patch)
    expect(first?.section).toBe('function draw() {')
    expect(first?.lines.map(({ kind, before, after }) => [kind, before, after])).toEqual([
      ['keep', 1, 1],
      ['del', 2, null],
      ['add', null, 2],
      ['keep', 3, 3],
      ['keep', 4, 4],
    ])
    expect(second?.lines.map(({ before, after, text }) => [before, after, text])).toEqual([
      [10, null, 'ten'],
      [null, 10, 'ten'],
      [null, 11, 'eleven'],
    ])
  })

  it('takes code that looks like a file header for code, by the counts', () => {
    const texts = parsePatch(patch)[0]?.lines.map(({ text }) => text)
    expect(texts).toEqual(['one', '-- two', '++ two!', 'three', 'four'])
  })

  it('takes code that looks like a hunk header for code', () => {
    const hunks = parsePatch('@@ -1,2 +1,2 @@\n-@@ -5,1 +5,1 @@\n+@@ -6,1 +6,1 @@\n kept\n')
    expect(hunks).toHaveLength(1)
    expect(hunks[0]?.lines.map(({ text }) => text)).toEqual(['@@ -5,1 +5,1 @@', '@@ -6,1 +6,1 @@', 'kept'])
  })

  it('marks the last line of each side that has no line end', () => {
    const hunks = parsePatch(
      '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n',
    )
    expect(hunks[0]?.lines.map(({ text, isUnended }) => [text, isUnended])).toEqual([
      ['a', true],
      ['b', true],
    ])
  })

  it('keeps carriage returns and blanks of the text', () => {
    expect(parsePatch('@@ -1 +1 @@\n-a \r\n+a\r\n')[0]?.lines.map(({ text }) => text)).toEqual([
      'a \r',
      'a\r',
    ])
  })

  it('finds nothing in what is no diff', () => {
    expect(parsePatch('')).toEqual([])
    expect(parsePatch('Binary files a/x and b/x differ\n')).toEqual([])
  })

  it('reads a file that came from nothing', () => {
    const [hunk] = parsePatch('--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+\n')
    expect(hunk?.lines.map(({ kind, after }) => [kind, after])).toEqual([
      ['add', 1],
      ['add', 2],
    ])
  })
})

describe('changedSpans', () => {
  it('gives what lies between the common ends', () => {
    expect(changedSpans('const a = 1;', 'const a = 22;')).toEqual({ before: [10, 11], after: [10, 12] })
    expect(changedSpans('abcabc', 'abc')).toEqual({ before: [3, 6], after: [3, 3] })
  })

  it('is null for lines that have little or only blanks in common', () => {
    expect(changedSpans('  let sum = 0', '  return cents')).toBeNull()
    expect(changedSpans('        a', '        b')).toBeNull()
  })
})

describe('markChanges', () => {
  it('pairs lines of a run in order and leaves the rest plain', () => {
    const lines = parsePatch('@@ -1,1 +1,2 @@\n-title: old one\n+title: new one\n+other\n')[0]?.lines ?? []
    expect(markChanges(lines).map(({ mark }) => mark)).toEqual([[7, 10], [7, 10], null])
  })
})
