import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findJsonFault } from './json-place.ts'

test.each([
  ['{\n  "watch": "auto",\n  nonsense }\n', 3, 3],
  ['{"a": 1,\n}', 2, 1],
  ['{"a": nonsense}', 1, 7],
  ['{"a": "cut', 1, 7],
  ['{"a": 01}', 1, 8],
  ['', 1, 1],
  ['{} {}', 1, 4],
])('%j is wrong at line %i, column %i', (text, line, column) => {
  expect(findJsonFault(text)).toEqual({ line, column })
})

test('it finds a fault where the parser does, and nowhere else', () => {
  const cut = fc.record({
    text: fc.json(),
    at: fc.nat(200),
    put: fc.constantFrom('', '"', ',', '}', ' ', '0', '\\', 'e'),
  })
  fc.assert(
    fc.property(cut, ({ text, at, put }) => {
      const changed = text.slice(0, at) + put + text.slice(at + 1)
      expect(findJsonFault(changed) === null, changed).toBe(isJson(changed))
    }),
    { numRuns: 2000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
