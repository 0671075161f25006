import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findPathFault, isGitDisguise } from './validate.ts'

const escaped = (bytes: string) => `b64:${Buffer.from(bytes, 'latin1').toString('base64url')}`

describe('findPathFault', () => {
  test.each([
    ['', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['a//b', 'empty-name'],
    ['a/', 'empty-name'],
    ['.', 'dot-name'],
    ['../a', 'dot-name'],
    ['a/../b', 'dot-name'],
    ['a\0b', 'nul'],
    [escaped('\xff\0'), 'nul'],
    [escaped('\xff/../../x'), 'slash-in-name'],
    ['b64:Li4', 'bad-escape'],
    ['b64:', 'bad-escape'],
    ['.git', 'git-directory'],
    ['a/.git/hooks/post-checkout', 'git-directory'],
    ['.GIT/config', 'git-directory'],
    ['.g\u200cit', 'git-directory'],
    ['.git ', 'git-directory'],
    ['.git.', 'git-directory'],
    ['git~1', 'git-directory'],
    ['GIT~12', 'git-directory'],
    ['.git::$INDEX_ALLOCATION', 'git-directory'],
    ['.\uff47it/hooks/x', 'git-directory'],
    ['\uff0egit', 'git-directory'],
  ])('refuses %j as %s', (path, fault) => {
    expect(findPathFault(path, 'posix')).toBe(fault)
  })

  test.each([
    '.gitignore',
    '.github/workflows/ci.yml',
    '.gitmodules',
    'git',
    'a.git',
    'a\nb',
    'a\\b',
    'C:/x',
    'b*[0]?.txt',
    ' leading and trailing ',
    '...',
    '日本/é.txt',
    'nul',
    escaped('\xff\xfe'),
    '-rf',
    '$(x)',
  ])('takes the odd but legal name %j where names are bytes', (path) => {
    expect(findPathFault(path, 'posix')).toBeNull()
  })

  test.each([
    ...[
      'a\\b',
      'C:x',
      'C:',
      '\\\\server\\share',
      '..\\x',
      'nul',
      'COM1.txt',
      'CONIN$',
      'a.',
      'a ',
      'a?b',
      'lpt¹',
    ],
    ...['a\u0001', 'a\nb', 'a\u007f', 'a\u0085', 'file:stream', 'GI7EBA~1', 'b64:_y50'],
  ])('refuses %j for Windows only', (path) => {
    expect(findPathFault(path, 'windows')).toBe('windows-name')
    expect(findPathFault(path, 'posix')).toBeNull()
  })

  test('nothing that is accepted leaves the root when a POSIX system joins it', () => {
    const part = fc.oneof(
      fc.constantFrom('..', '.', '', '.git', '.GIT', 'a', 'b64:Li4', '\0', '...', '.. '),
      fc.string({ maxLength: 8 }),
      fc.string({ unit: 'binary', maxLength: 6 }),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const path = parts.join('/')
        if (findPathFault(path, 'posix') !== null) return
        const depth = path
          .split('/')
          .map((name) => (name === '..' ? -1 : name === '.' || name === '' ? 0 : 1))
        expect(depth.every((step) => step === 1)).toBe(true)
        expect(path.includes('\0')).toBe(false)
        expect(path.split('/').some((name) => name.toLowerCase() === '.git')).toBe(false)
      }),
      { numRuns: 30_000 },
    )
  })
})

test('isGitDisguise knows what it must leave alone', () => {
  for (const name of ['.gitattributes', '.git2', 'x.git', 'git~', 'git~x', '.gi', 'agit~1'])
    expect(isGitDisguise(name)).toBe(false)
})
