import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutlineReader, type Wanted } from './outline.ts'

/** What the reader is to give, by way of the whole text. */
function pick(value: unknown, wanted: Wanted): unknown {
  if (wanted === 'value') return typeof value === 'object' && value !== null ? undefined : value
  if (typeof value !== 'object' || value === null) return undefined
  if (isItems(wanted))
    return Array.isArray(value)
      ? value.map((item) => pick(item, wanted[0])).filter((item) => item !== undefined)
      : undefined
  if (Array.isArray(value)) return undefined
  const picked = Object.entries(wanted).flatMap(([key, want]) => {
    const found = Object.hasOwn(value, key) ? pick(Reflect.get(value, key), want) : undefined
    return found === undefined ? [] : [[key, found]]
  })
  return Object.fromEntries(picked)
}

const isItems = (wanted: Wanted): wanted is readonly [Wanted] => Array.isArray(wanted)

function read(text: string, wanted: Wanted, cuts: readonly number[] = [], stringBytes = 10_000): unknown {
  const bytes = Buffer.from(text)
  const reader = new OutlineReader(wanted, stringBytes)
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  for (const [i, place] of places.entries()) reader.feed(bytes.subarray(places[i - 1] ?? 0, place))
  return reader.finish()
}

const WANTED: Wanted = {
  id: 'value',
  a: { b: ['value'], c: 'value', list: [{ x: 'value' }] },
  list: [{ x: 'value', a: 'value' }],
}
const key = fc.constantFrom('id', 'a', 'b', 'c', 'x', 'list', 'other', '', '"', '\\u0061', '__proto__')
const { value } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\\"}]', '😀', '\u2028'),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
  ),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))

test('keeps what is wanted of any JSON text, wherever it is cut into pieces', () => {
  fc.assert(
    fc.property(value, fc.array(fc.nat()), fc.constantFrom(undefined, 1), (json, cuts, indent) => {
      const text = JSON.stringify(json, null, indent)
      expect(read(text, WANTED, cuts)).toEqual(pick(JSON.parse(text), WANTED))
    }),
    { numRuns: 2000 },
  )
})

test('wanted strings are cut between characters, and not within an escape', () => {
  const cut = (text: string, bytes: number): unknown => read(text, 'value', [], bytes)
  expect(cut('"abcdef"', 4)).toBe('abcd')
  expect(cut('"ab\\u00e9f"', 4)).toBe('ab')
  expect(cut('"ab\\nf"', 3)).toBe('ab')
  expect(cut('"abé"', 3)).toBe('ab')
  expect(cut('"abcd"', 4)).toBe('abcd')
})

test('a long key is not taken for the wanted one that it begins with', () => {
  expect(read(`{"${'id'.padEnd(200, 'x')}":1,"id":2}`, { id: 'value' })).toEqual({ id: 2 })
})

test('what is no JSON is nothing, and the next text is read all the same', () => {
  const reader = new OutlineReader({ id: 'value' }, 100)
  for (const text of ['', 'hello', '{"id":1', '{"id":1]', ']', '{"id":tru}', '"open']) {
    reader.feed(Buffer.from(text))
    expect(reader.finish(), text).toBeUndefined()
    reader.feed(Buffer.from('{"id":7}'))
    expect(reader.finish()).toEqual({ id: 7 })
  }
})
