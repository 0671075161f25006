import { expect, test } from 'vitest'
import { cutList, cutPatches, cutText } from './cut.ts'

test('what is left out of a list is counted', () => {
  expect(cutList([1, 2, 3], 2)).toEqual({ items: [1, 2], leftOut: 1 })
  expect(cutList([1, 2], 2)).toEqual({ items: [1, 2], leftOut: 0 })
})

test('a text is cut with a word of it, and not through a character', () => {
  expect(cutText('abcdef', 6)).toBe('abcdef')
  expect(cutText('abcdef', 4)).toBe('abcd… (2 more characters)')
  expect(cutText('abc😀ef', 4)).toBe('abc… (4 more characters)')
})

test('patches are whole, or end with a line and are named', () => {
  const patches = [
    { path: 'a', patch: 'a1\na2\n' },
    { path: 'b', patch: 'b1\nb2\n' },
    { path: 'c', patch: 'c1\n' },
  ]
  expect(cutPatches(patches, 15)).toEqual({ text: 'a1\na2\nb1\nb2\nc1\n', cut: null, notShown: [] })
  expect(cutPatches(patches, 10)).toEqual({ text: 'a1\na2\nb1\n', cut: 'b', notShown: ['c'] })
  expect(cutPatches(patches, 8)).toEqual({ text: 'a1\na2\n', cut: null, notShown: ['b', 'c'] })
})
