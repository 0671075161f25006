import { expect, test } from 'vitest'
import { writeBech32 } from './bech32.ts'

// Addresses of BIP 173's list whose data are whole bytes in their five-bit form.
test('writes the test vectors of BIP 173', () => {
  expect(writeBech32('a', new Uint8Array())).toBe('a12uel5l')
  const bytes = Buffer.from('00443214c74254b635cf84653a56d7c675be77df', 'hex')
  expect(writeBech32('abcdef', bytes)).toBe('abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw')
})
