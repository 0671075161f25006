import { describe, expect, it } from 'vitest'
import { pathInFragment, paths, safeNext } from './paths.ts'

describe('safeNext', () => {
  it.each(['/projects/p_1/turns/t_1?q=a#src%2Fa.ts', '/machines'])('takes %s', (next) => {
    expect(safeNext(next)).toBe(next)
  })

  it.each([
    null,
    '',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    '/login?next=/login',
    '/setup',
  ])('leads home instead of to %s', (next) => {
    expect(safeNext(next)).toBe('/')
  })
})

it('keeps a path with any characters through an address', () => {
  for (const path of ['src/a b#c?d%e.ts', 'ünï/ćode', 'b64:_w']) {
    const url = new URL(paths.turn('p_1', 't_1', path), 'http://localhost')
    expect(pathInFragment(url.hash)).toBe(path)
  }
  expect(pathInFragment('#%')).toBeNull()
  expect(pathInFragment('')).toBeNull()
})
