import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readName, writeName } from './name.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'utf8'))

describe('writeName and readName', () => {
  test('a UTF-8 name is written as itself', () => {
    for (const name of [
      'a.txt',
      '日本.md',
      'e\u0301.txt',
      '\u00e9.txt',
      '🙂',
      'a\nb',
      '*[x]?',
      '-rf',
      'b64',
      'B64:x',
    ])
      expect(writeName(bytes(name))).toBe(name)
  })

  test('a name that is not UTF-8 is written as b64 and read back byte for byte', () => {
    const name = Uint8Array.of(0xff, 0x2e, 0x74)
    expect(writeName(name)).toBe('b64:_y50')
    expect(readName('b64:_y50')).toEqual(name)
  })

  test('a name that begins with b64: is escaped, so that no two names are written alike', () => {
    expect(writeName(bytes('b64:_y50'))).toBe(`b64:${Buffer.from('b64:_y50').toString('base64url')}`)
  })

  test('an escape around a name that needs none is refused', () => {
    expect(readName(`b64:${Buffer.from('plain').toString('base64url')}`)).toBeNull()
    expect(readName('b64:***')).toBeNull()
    expect(readName('\ud800')).toBeNull()
  })

  test('agrees with the platform on what UTF-8 is, and every name survives', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const isUtf8 = (name: Uint8Array) => {
      try {
        decoder.decode(name)
        return true
      } catch {
        return false
      }
    }
    const lead = fc.constantFrom(
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0xff,
      0x80,
      0x9f,
      0xa0,
      0xbf,
    )
    const byte = fc.oneof(lead, fc.integer({ min: 0, max: 255 }))
    fc.assert(
      fc.property(fc.array(byte, { minLength: 1, maxLength: 6 }), (values) => {
        const name = Uint8Array.from(values)
        const written = writeName(name)
        expect(readName(written)).toEqual(name)
        if (!isUtf8(name)) expect(written.startsWith('b64:')).toBe(true)
        else if (!Buffer.from(name).toString().startsWith('b64:'))
          expect(written).toBe(Buffer.from(name).toString())
      }),
      { numRuns: 20_000 },
    )
  })
})
