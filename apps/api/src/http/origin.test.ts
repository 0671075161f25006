import { expect, test } from 'vitest'
import { ownOriginsOf, refuseOtherSites } from './origin.ts'

const OWN = ['https://turnback.test']

test.each<[string | null, string | null, boolean]>([
  // A page of ours.
  ['https://turnback.test', 'same-origin', true],
  ['https://turnback.test', null, true],
  [null, 'same-origin', true],
  // Typed, or a bookmark; and a program that is no browser.
  [null, 'none', true],
  [null, null, true],
  // All others, whichever of the two says so.
  [null, 'cross-site', false],
  [null, 'same-site', false],
  [null, 'nonsense', false],
  ['https://turnback.test', 'cross-site', false],
  ['https://turnback.test', 'same-site', false],
  ['https://evil.test', null, false],
  ['https://evil.test', 'same-origin', false],
  ['https://evil.test', 'none', false],
  ['https://turnback.test.evil.test', null, false],
  ['https://sub.turnback.test', null, false],
  ['http://turnback.test', null, false],
  ['https://turnback.test:8443', null, false],
  ['null', 'same-origin', false],
  ['', null, false],
])('origin %s, site %s: taken %s', (origin, site, isTaken) => {
  const headers = new Headers()
  if (origin !== null) headers.set('origin', origin)
  if (site !== null) headers.set('sec-fetch-site', site)
  const ask = () => refuseOtherSites(headers, OWN)
  if (isTaken) expect(ask).not.toThrow()
  else expect(ask).toThrow(expect.objectContaining({ code: 'CROSS_ORIGIN' }))
})

test('a loopback address has two names, any other one', () => {
  expect(ownOriginsOf('http://localhost:4600/')).toEqual(['http://127.0.0.1:4600', 'http://localhost:4600'])
  expect(ownOriginsOf('https://turnback.test/x')).toEqual(OWN)
})
