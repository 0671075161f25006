import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IgnoreRules } from '#worktree/ignore-rules.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'turnback-ignore-'))
  execFileSync('git', ['init', '-q', root])
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const NAMES = ['a', 'b', 'a.log', 'keep', '.env', 'ä']
const pattern = fc
  .record({
    negative: fc.boolean(),
    anchored: fc.boolean(),
    body: fc.constantFrom(
      ...NAMES,
      '*',
      '*.log',
      '**/a',
      'a/**',
      'a/b',
      '[ab]',
      '?',
      '??',
      '\\a',
      '#x',
      'a/*/b',
      'ä',
    ),
    folder: fc.boolean(),
  })
  .map(
    ({ negative, anchored, body, folder }) =>
      `${negative ? '!' : ''}${anchored ? '/' : ''}${body}${folder ? '/' : ''}`,
  )
const rules = fc.array(pattern, { maxLength: 4 }).map((lines) => `${lines.join('\n')}\n`)
const folders = ['', 'a', 'a/b', 'keep']

/** What git itself says of these paths, none of which it tracks. */
function ignoredByGit(paths: readonly string[]): Set<string> {
  const { stdout } = spawnSync('git', ['-C', root, 'check-ignore', '-z', '--stdin'], {
    input: paths.join('\0'),
    encoding: 'utf8',
  })
  return new Set(stdout.split('\0').filter((path) => path !== ''))
}

test('what git ignores we ignore; and nothing else, but for names beyond ASCII', () => {
  const files = folders.flatMap((folder) => NAMES.map((name) => (folder === '' ? name : `${folder}/${name}`)))
  // `a` and `keep` are folders at the root, `b` is one in `a`.
  const real = files.filter((path) => !['a', 'keep', 'a/b'].includes(path))
  for (const path of real) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), '')
  }
  let ignored = 0
  fc.assert(
    fc.property(fc.tuple(rules, rules, rules, rules), rules, (own, exclude) => {
      folders.forEach((folder, i) => {
        writeFileSync(join(root, folder, '.gitignore'), own[i] ?? '')
      })
      writeFileSync(join(root, '.git/info/exclude'), exclude)
      const ours = new IgnoreRules(root)
      const theirs = ignoredByGit(real)
      ignored += theirs.size
      const mine = real.filter((path) => {
        const folder = dirname(path) === '.' ? '' : dirname(path)
        return ours.isIgnored(folder, path.slice(folder === '' ? 0 : folder.length + 1), false)
      })
      expect([...theirs].filter((path) => !mine.includes(path))).toEqual([])
      expect(mine.filter((path) => !theirs.has(path) && /^[\u0000-\u007f]*$/.test(path))).toEqual([])
    }),
    { numRuns: 200 },
  )
  expect(ignored).toBeGreaterThan(0)
})
