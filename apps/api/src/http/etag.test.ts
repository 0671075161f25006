import { expect, test } from 'vitest'
import { etagOf, isKnown } from './etag.ts'

test('a tag is of all its parts, each in its place', () => {
  const tags = [etagOf('a', 'b'), etagOf('ab'), etagOf('b', 'a'), etagOf('a', 'b', null), etagOf('a', 'b')]
  expect(new Set(tags).size).toBe(4)
  expect(tags[0]).toMatch(/^"[\w-]{43}"$/)
})

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ['"x"', true],
  ['W/"x"', true],
  ['"a", "x"', true],
  ['"a",W/"x"', true],
  ['*', true],
  ['x', false],
  ['"xx"', false],
  ['"a, x"', false],
  ['', false],
])('If-None-Match: %s', (header, known) => {
  expect(isKnown(header, '"x"')).toBe(known)
})
