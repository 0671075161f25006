import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utf8Bytes } from '#text/bytes.ts'
import { applyDelta, encodeDelta } from './delta.ts'

const anyLength = Number.MAX_SAFE_INTEGER

/** Texts of few different lines, so that much of them is found again in other places. */
const lines = fc.array(
  fc.oneof(
    fc.constantFrom('  return value', 'function run() {', '}', '', '// one more line'),
    fc.string({ maxLength: 60 }),
  ),
  { maxLength: 80 },
)
const bytes = fc.oneof(
  lines.map((all) => utf8Bytes(all.join('\n'))),
  fc.uint8Array({ maxLength: 400 }),
  // Long runs of the same: every piece has the same hash.
  fc.tuple(fc.nat(255), fc.nat(300)).map(([byte, length]) => new Uint8Array(length).fill(byte)),
)

interface Edit {
  readonly kind: 'insert' | 'remove' | 'move'
  readonly at: number
  readonly length: number
  readonly bytes: Uint8Array
}
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('insert', 'remove', 'move'),
  at: fc.nat(5000),
  length: fc.nat(200),
  bytes: fc.uint8Array({ maxLength: 60 }),
})

function change(content: Uint8Array, edits: readonly Edit[]): Uint8Array {
  let all = [...content]
  for (const { kind, at, length, bytes: more } of edits) {
    const place = all.length === 0 ? 0 : at % all.length
    const cut = kind === 'insert' ? [] : all.splice(place, length)
    if (kind === 'insert') all.splice(place, 0, ...more)
    if (kind === 'move') all = [...cut, ...all]
  }
  return Uint8Array.from(all)
}

test('any bytes are made again from any others', () => {
  fc.assert(
    fc.property(bytes, bytes, (base, target) => {
      const delta = encodeDelta(base, target, anyLength)
      expect(delta).not.toBeNull()
      expect(applyDelta(base, delta ?? new Uint8Array(), target.length)).toEqual(target)
    }),
    { numRuns: 500 },
  )
})

test('an edited version is made again, also through a chain of deltas', () => {
  fc.assert(
    fc.property(bytes, fc.array(fc.array(edit, { maxLength: 5 }), { maxLength: 5 }), (first, turns) => {
      let version = first
      let read = first
      for (const edits of turns) {
        const next = change(version, edits)
        const delta = encodeDelta(version, next, anyLength)
        const again = applyDelta(read, delta ?? new Uint8Array(), next.length)
        expect(again).toEqual(next)
        version = next
        read = again ?? read
      }
    }),
    { numRuns: 300 },
  )
})

test('what is said of the length is kept: no delta is longer, and none is given up that is not', () => {
  fc.assert(
    fc.property(bytes, bytes, fc.nat(300), (base, target, maxBytes) => {
      const whole = encodeDelta(base, target, anyLength)
      const delta = encodeDelta(base, target, maxBytes)
      if (delta === null) expect(whole?.length ?? 0).toBeGreaterThan(maxBytes)
      else expect(delta).toEqual(whole)
    }),
    { numRuns: 500 },
  )
})

test('hostile deltas are refused: nothing is read beside the base, nothing made beside the length', () => {
  const base = Uint8Array.from({ length: 300 }, (_, i) => i % 251)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(500), (delta, sizeBytes) => {
      const made = applyDelta(base, delta, sizeBytes)
      expect(made === null || made.length === sizeBytes).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['a copy that begins before the base', [0b11, 1]],
  ['a copy that reaches behind the base', [21, 0]],
  ['a copy far behind the base', [3, 0x80, 0x80, 0x80, 0x80, 0x01]],
  ['an insert that is cut off', [20, 1, 2]],
  ['nothing at all', []],
  ['an instruction without a length', [1, 0]],
  ['a number without an end', [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]],
  ['more than was said', [20, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2, 1]],
  ['a length beyond all memory', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0]],
])('refused: %s', (_, delta) => {
  expect(applyDelta(new Uint8Array(8), Uint8Array.from(delta), 10)).toBeNull()
})

test('one appended line costs a few bytes, and unlike bytes are given up early', () => {
  const base = utf8Bytes(Array.from({ length: 20_000 }, (_, i) => `line ${i} of a long file\n`).join(''))
  const target = utf8Bytes(`${new TextDecoder().decode(base)}one line more\n`)
  expect(encodeDelta(base, target, 1000)?.length).toBeLessThan(30)
  const other = base.map((byte) => byte ^ 0xff)
  expect(encodeDelta(base, other, Math.floor(other.length * 0.6))).toBeNull()
})

test('moved and doubled parts are found', () => {
  const part = (n: number) => Array.from({ length: 40 }, (_, i) => `part ${n}, line ${i * 7919}\n`).join('')
  const base = utf8Bytes(`head\n${part(1)}${part(2)}${part(3)}tail\n`)
  const target = utf8Bytes(`another head\n${part(3)}${part(1)}${part(1)}end\n`)
  expect(encodeDelta(base, target, anyLength)?.length).toBeLessThan(120)
})
