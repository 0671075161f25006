import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differences, snapshotTree } from './support/tree-snapshot.ts'

/*
 * Five ways to undo the sample turn, on five copies of the same project, compared byte for byte with the tree before
 * the turn. What the four git ways leave behind is asserted as it was measured: it is the reason why Turnback exists,
 * and the day git does better this table has to change.
 */

const checkout = resolve(import.meta.dirname, '../../..')
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'five-ways-')))
const env = {
  PATH: process.env.PATH,
  HOME: join(scratch, 'home'),
  TURNBACK_HOME: join(scratch, 'turnback'),
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Sample User',
  GIT_AUTHOR_EMAIL: 'user@example.invalid',
  GIT_COMMITTER_NAME: 'Sample User',
  GIT_COMMITTER_EMAIL: 'user@example.invalid',
}

interface Way {
  readonly name: string
  readonly before?: (folder: string) => string
  readonly undo: (folder: string, noted: string) => void
  /** Paths that are not as they were before the turn. */
  readonly differs: readonly string[]
  /** What moved of git's own: `index`, `HEAD`, `refs`, or any `other` file below `.git`. */
  readonly moved: readonly string[]
}

const turnback = (folder: string, ...args: string[]) =>
  run(folder, join(checkout, 'bin/turnback'), [...args, '--json'])
const git = (folder: string, ...args: string[]) => run(folder, 'git', args)

const ways: readonly Way[] = [
  {
    name: 'turnback undo',
    before: (folder) => turnback(folder, 'begin', '--session', 's', '--turn', '1'),
    undo: (folder) => {
      turnback(folder, 'end', '--session', 's', '--turn', '1')
      const report = JSON.parse(turnback(folder, 'undo'))
      expect(report).toMatchObject({
        status: 'done',
        verified: true,
        kept: [],
        failed: [],
        deleted: ['theme.css'],
      })
      expect([...report.restored].sort()).toEqual(['.env', 'app.js', 'index.html', 'styles.css'])
    },
    differs: [],
    moved: [],
  },
  {
    name: 'git checkout -- .',
    undo: (folder) => git(folder, 'checkout', '--', '.'),
    differs: ['.env: content', 'index.html: content', 'theme.css: left over'],
    moved: ['index'],
  },
  {
    name: 'git stash -u',
    undo: (folder) => git(folder, 'stash', '-u'),
    differs: ['.env: content', 'index.html: content', 'notes.md: gone'],
    moved: ['index', 'refs', 'other'],
  },
  {
    name: 'git checkout, git clean -fd',
    undo: (folder) => {
      git(folder, 'checkout', '--', '.')
      git(folder, 'clean', '-fd')
    },
    differs: ['.env: content', 'index.html: content', 'notes.md: gone'],
    moved: ['index'],
  },
  {
    name: 'git stash create, then checkout of it',
    before: (folder) => git(folder, 'stash', 'create').trim(),
    undo: (folder, stash) => git(folder, 'checkout', stash, '--', '.'),
    differs: ['.env: content', 'theme.css: left over'],
    moved: ['index'],
  },
]

const measured = new Map<string, { differs: string[]; moved: string[] }>()

beforeAll(() => {
  mkdirSync(env.HOME)
  mkdirSync(env.TURNBACK_HOME)
})

afterAll(() => {
  console.log(table())
  rmSync(scratch, { recursive: true, force: true })
})

describe('after undoing the sample turn, these paths differ from before it', () => {
  test.each(ways)('$name', (way) => {
    const found = measure(way, join(scratch, `project-${measured.size}`))
    measured.set(way.name, found)
    expect(found).toEqual({ differs: way.differs, moved: way.moved })
  })
})

function measure(way: Way, folder: string): { differs: string[]; moved: string[] } {
  sample('setup', folder)
  const noted = way.before?.(folder) ?? ''
  const start = snapshotTree(folder)
  const gitStart = gitFacts(folder)
  sample('turn', folder)
  // Without this a turn that changed nothing would make every way look perfect.
  expect(differences(start, snapshotTree(folder))).toHaveLength(5)
  way.undo(folder, noted)
  const gitNow = gitFacts(folder)
  return {
    differs: differences(start, snapshotTree(folder)),
    moved: Object.keys(gitStart).filter((fact) => gitNow[fact] !== gitStart[fact]),
  }
}

/** Digests of what git keeps, read as plain files: asking git could refresh the very thing that is compared. */
function gitFacts(folder: string): Record<string, string> {
  const all = [...snapshotTree(join(folder, '.git'), [])]
  const owner = (path: string) =>
    /^(index|HEAD)$/.exec(path)?.[0] ?? (/^(refs|logs|packed-refs)(\/|$)/.test(path) ? 'refs' : 'other')
  const facts = Map.groupBy(all, ([path]) => owner(path))
  return Object.fromEntries(
    ['index', 'HEAD', 'refs', 'other'].map((name) => [name, JSON.stringify(facts.get(name))]),
  )
}

function sample(step: 'setup' | 'turn', folder: string): void {
  run(scratch, 'sh', [join(checkout, 'scripts/sample.sh'), step, folder])
}

function run(cwd: string, command: string, args: readonly string[]): string {
  const done = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 60_000 })
  if (done.status !== 0)
    throw new Error(
      `${command} ${args.join(' ')}: exit ${done.status} ${done.error?.message ?? ''}\n${done.stdout}${done.stderr}`,
    )
  return done.stdout
}

function table(): string {
  const rows = ways.map(({ name }) => {
    const { differs, moved } = measured.get(name) ?? { differs: ['not measured'], moved: ['not measured'] }
    return [name, differs.join(', ') || 'nothing', moved.join(', ') || 'nothing']
  })
  const all = [['undone by', 'differs from before the turn', 'moved in .git'], ...rows]
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return `\n${all.map(line).join('\n')}\n`
}
