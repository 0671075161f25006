import { describe, expect, test } from 'vitest'
import { headerLine, parseEnvelopeHeader, signedPrefix } from './envelope.ts'

const machine = 'm_01jzzzzzzz00000000000000aa'
const signature = 'A'.repeat(86)
const ascii = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

describe('envelope header', () => {
  test('reads what it wrote, and says where the body begins', () => {
    const header = headerLine('turn', machine, signature)
    const parsed = parseEnvelopeHeader(ascii(`${header}{"a":1}`))
    expect(parsed).toEqual({ type: 'turn', machine, signature, bodyOffset: header.length })
  })

  test.each([
    ['no newline', headerLine('turn', machine, signature).trimEnd()],
    ['another version', headerLine('turn', machine, signature).replace('/1', '/2')],
    ['an unknown type', headerLine('turn', machine, signature).replace(' turn ', ' order ')],
    ['a short signature', headerLine('turn', machine, 'A'.repeat(85))],
    ['another kind of id', headerLine('turn', machine, signature).replace('m_', 't_')],
    ['a header that never ends', 'x'.repeat(10_000)],
    ['nothing', ''],
  ])('refuses %s', (_why, text) => {
    expect(parseEnvelopeHeader(ascii(text))).toBeNull()
  })

  test('what is signed differs by type, machine and length', () => {
    const prefixes = [
      signedPrefix('turn', machine, 1),
      signedPrefix('plan', machine, 1),
      signedPrefix('turn', 'm_01jzzzzzzz00000000000000ab', 1),
      signedPrefix('turn', machine, 2),
    ]
    expect(new Set(prefixes).size).toBe(4)
  })
})
