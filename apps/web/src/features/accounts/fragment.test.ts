import { expect, it } from 'vitest'
import { secretIn } from './fragment.ts'

it.each([
  ['#abcdef', 'abcdef'],
  ['#code=abc-def_1', 'abc-def_1'],
  ['#token=abc', 'abc'],
  ['', null],
  ['#', null],
  ['#code=', null],
  ['#other=1', null],
])('%s holds %s', (hash, secret) => {
  expect(secretIn(hash)).toBe(secret)
})
