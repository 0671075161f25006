import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { expect, test } from 'vitest'
import { insertAt, removeAt, SettingsFault } from './json-text.ts'

const ITEM = { a: 1 }

test.each([
  ['nothing', '', '{\n  "x": {\n    "y": [\n      {\n        "a": 1\n      }\n    ]\n  }\n}\n'],
  ['an empty object', '{}\n', '{\n  "x": {\n    "y": [\n      {\n        "a": 1\n      }\n    ]\n  }\n}\n'],
  ['all on one line', '{"b":2}', '{"b":2,"x":{"y":[{"a":1}]}}'],
  [
    'tabs',
    '{\n\t"x": {\n\t\t"y": []\n\t}\n}',
    '{\n\t"x": {\n\t\t"y": [\n\t\t\t{\n\t\t\t\t"a": 1\n\t\t\t}\n\t\t]\n\t}\n}',
  ],
  [
    'a comment behind the last, with CRLF',
    '{\r\n    "b": 2 // two\r\n}\r\n',
    '{\r\n    "b": 2, // two\r\n    "x": {\r\n        "y": [\r\n            {\r\n                "a": 1\r\n            }\r\n        ]\r\n    }\r\n}\r\n',
  ],
  [
    'a trailing comma',
    '{\n  "x": { "y": [1,], },\n}',
    '{\n  "x": { "y": [1,\n    {\n      "a": 1\n    },\n  ], },\n}',
  ],
])('an item is put in as the file is laid out: %s', (_, text, expected) => {
  expect(insertAt(text, ['x', 'y'], ITEM, 'item')).toBe(expected)
})

test('what is in the way is said with its place', () => {
  expect(() => insertAt('{\n  "x": 1\n}', ['x', 'y'], ITEM, 'item')).toThrow(SettingsFault)
  expect(() => insertAt('{\n  "x": }', ['x'], 1, 'member')).toThrow(
    expect.objectContaining({ line: 2, column: 8, why: 'value expected' }),
  )
  expect(() => insertAt('[]', ['x'], 1, 'member')).toThrow('an object is expected')
})

test.each([
  ['the only one', '{"x":[1]}', ['x', 0], '{"x":[]}'],
  ['the first', '{\n  "a": 1, // one\n  "b": 2\n}', ['a'], '{\n   // one\n  "b": 2\n}'],
  [
    'the last, with the comma that it needed',
    '{\n  // b\n  "a": 1, // one\n  "b": 2\n}',
    ['b'],
    '{\n  // b\n  "a": 1 // one\n}',
  ],
  ['one on a shared line', '{"x":[\n  // mine\n  1, 2\n]}', ['x', 0], '{"x":[\n  // mine\n   2\n]}'],
  ['a name that stands there twice', '{"a":1,"a":2}', ['a'], '{"a":1}'],
])('removed: %s', (_, text, path, expected) => {
  expect(removeAt(text, path)).toBe(expected)
})

/** JSON as people write it: any layout, comments, trailing commas. */
const layouts = fc.record({
  value: fc.dictionary(fc.stringMatching(/^[a-z"\\/ é]{0,4}$/), fc.jsonValue({ maxDepth: 3 }), {
    maxKeys: 4,
  }),
  unit: fc.constantFrom('', '  ', '\t', '    '),
  eol: fc.constantFrom('\n', '\r\n'),
  comment: fc.constantFrom('', '// note', '/* note */'),
  isTrailing: fc.boolean(),
})

function write({
  value,
  unit,
  eol,
  comment,
  isTrailing,
}: typeof layouts extends fc.Arbitrary<infer T> ? T : never): string {
  const text = JSON.stringify(value, null, unit)
  if (unit === '') return text
  const lines = text.split('\n').map((line, index, all) => {
    const isLast = /^\s*[\]}]/.test(all[index + 1] ?? '')
    const comma = isLast && isTrailing && !/[,[{]$/.test(line) ? ',' : ''
    return `${line}${comma}${comment === '' ? '' : ` ${comment}`}`
  })
  return lines.join(eol) + eol
}

test('put in and taken out again, a file of any layout is the same to the byte', () => {
  fc.assert(
    fc.property(layouts, (layout) => {
      const text = write(layout)
      const put = insertAt(text, ['turnback', 'hooks'], ITEM, 'item')
      expect(parse(put, [], { allowTrailingComma: true })).toEqual({
        ...parse(text, [], { allowTrailingComma: true }),
        turnback: { hooks: [ITEM] },
      })
      const taken = removeAt(put, ['turnback'])
      expect(parse(taken)).toEqual(parse(text))
      if (Object.keys(layout.value).length > 0) expect(taken).toBe(text)
    }),
    { numRuns: 300 },
  )
})
