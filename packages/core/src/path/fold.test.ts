import { expect, test } from 'vitest'
import { foldKey } from './fold.ts'

test.each([
  ['README.md', 'Readme.md'],
  ['Src/Main.txt', 'src/main.TXT'],
  ['stra\u00dfe', 'STRASSE'],
  ['\u00e9', 'e\u0301'],
  ['\u212a', 'k'],
  ['\u03c2', '\u03a3'],
])('%j and %j may be one place', (a, b) => {
  expect(foldKey(a)).toBe(foldKey(b))
})

test('other names have other keys', () => {
  expect(new Set(['a', 'b', 'a.b', 'a/b', 'ab', 'é'].map(foldKey)).size).toBe(6)
})
