import { expect, test } from 'vitest'
import { isRacy } from './stamp.ts'

const scan = 1_700_000_000_500_000_000n
const MS = 1_000_000n

test('a change near to the scan that saw it proves nothing', () => {
  expect(isRacy(scan, scan)).toBe(true)
  expect(isRacy(scan + MS, scan)).toBe(true)
  expect(isRacy(scan - 19n * MS, scan)).toBe(true)
  expect(isRacy(scan - 21n * MS, scan)).toBe(false)
})

test('times in whole seconds come from a disk that knows no finer ones', () => {
  const second = 1_700_000_000_000_000_000n
  expect(isRacy(second, second + 1999n * MS)).toBe(true)
  expect(isRacy(second, second + 2001n * MS)).toBe(false)
})
