import { DomainError } from '@turnback/core'
import { expect, it } from 'vitest'
import { DEFAULT_POLICY, parseChange } from './policy.ts'

it('changes one key and nothing else', () => {
  expect(parseChange(DEFAULT_POLICY, 'remote', 'owner')).toEqual({ ...DEFAULT_POLICY, remote: 'owner' })
  expect(parseChange(DEFAULT_POLICY, 'remote', 'off').remote).toBe('off')
})

it.each([
  ['remote', 'owner-passkey', /not available yet/],
  ['others', 'request', /not available yet/],
  ['ci', 'own-checkpoints', /not available yet/],
  ['remote', 'yes', /no value/],
  ['everything', 'on', /no policy/],
  ['constructor', 'owner', /no policy/],
])('refuses %s %s', (key, value, message) => {
  const change = () => parseChange(DEFAULT_POLICY, key, value)
  expect(change).toThrow(DomainError)
  expect(change).toThrow(message)
})
