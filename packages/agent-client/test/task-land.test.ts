import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let rig: TaskRig
const LINES = 'a\nb\nc\nd\ne\nf\ng\n'

beforeEach(() => {
  rig = new TaskRig('land')
  rig.initGit({ 'a.txt': LINES, 'src/b.txt': 'b\n', 'old.txt': 'old\n', '.gitignore': '*.log\n.env\n' })
})

afterEach(() => rig.dispose())

const message = () => rig.git('log', '-1', '--format=%B').trim()
const landedPaths = () =>
  rig.git('show', '--format=', '--name-status', '--no-renames', 'HEAD').trim().split('\n')

test('one commit with the trailer, of the task’s paths alone; all else of the repository as it was', async () => {
  rig.write('mine.txt', 'staged\n')
  rig.git('add', 'mine.txt')
  rig.write('mine.txt', 'staged and more\n')
  rig.write('src/b.txt', 'b of mine\n')
  rig.write('untracked.txt', 'u\n')
  const before = rig.facts()
  const line =
    'sed -i s/c/CC/ a.txt; rm old.txt; mkdir deep; echo n > deep/n; echo l > x.log; echo K=1 > .env; chmod +x a.txt; ln -s a.txt link'
  const { code, json } = await rig.task('t-1', line, '--commit', '--title', 'fix: the third line')
  expect([code, json.error]).toEqual([0, undefined])
  expect(message()).toBe('fix: the third line\n\nTask-Id: t-1')
  expect(landedPaths()).toEqual(['M\ta.txt', 'A\tdeep/n', 'A\tlink', 'D\told.txt'])
  expect(json.commit).toBe(rig.git('rev-parse', 'HEAD').trim())
  expect(json.notLanded).toEqual([
    { path: '.env', reason: 'ignored' },
    { path: 'x.log', reason: 'ignored' },
  ])
  const after = rig.facts()
  expect(after.status).toBe(before.status)
  expect(after.head).toBe(before.head)
  const others = (index: string) =>
    index.split('\0').filter((each) => !/\t(?:a\.txt|deep\/n|link|old\.txt)$/.test(each))
  expect(others(after.index)).toEqual(others(before.index))
  expect(rig.git('ls-tree', 'HEAD', 'a.txt')).toMatch(/^100755 /)
  // What programs see that do not look at bytes.
  expect(rig.git('diff-files', '--name-only')).toBe('mine.txt\nsrc/b.txt\n')
})

test('of a file with a person’s own uncommitted and staged work, the task’s change alone is committed', async () => {
  rig.write('a.txt', `MINE\n${LINES}`)
  rig.git('add', 'a.txt')
  rig.write('a.txt', `MINE\n${LINES}MORE\n`)
  const { code } = await rig.task('t-1', 'sed -i s/d/DD/ a.txt', '--commit')
  expect(code).toBe(0)
  const landed = LINES.replace('d', 'DD')
  expect(rig.git('show', 'HEAD:a.txt')).toBe(landed)
  expect(rig.git('show', ':a.txt')).toBe(`MINE\n${landed}`)
  expect(rig.text('a.txt')).toBe(`MINE\n${landed}MORE\n`)
  expect(rig.facts().status).toBe('MM a.txt\0')
})

test('where the two can not be told apart nothing is committed, and the task is taken back', async () => {
  rig.write('a.txt', LINES.replace('d', 'mine'))
  rig.write('new.txt', 'mine\n')
  const [before, files] = [rig.facts(), snapshotTree(rig.root)]
  const { code, json } = await rig.task(
    't-1',
    'sed -i s/mine/theirs/ a.txt new.txt',
    '--commit',
    '--retries',
    '3',
  )
  expect(code).toBe(1)
  expect(json.attempts).toHaveLength(1)
  expect(json.error).toMatchObject({ code: 'LANDING_REFUSED', details: { paths: ['a.txt', 'new.txt'] } })
  expect(rig.facts()).toEqual(before)
  expect(snapshotTree(rig.root)).toEqual(files)
})

test('a task that fails after it staged its work leaves neither', async () => {
  rig.write('mine.txt', 'mine\n')
  rig.git('add', 'mine.txt')
  const [before, files] = [rig.facts(), snapshotTree(rig.root)]
  const { code } = await rig.task('t-1', 'echo x >> a.txt; echo n > n; git rm -q old.txt; git add -A; exit 1')
  expect(code).toBe(1)
  expect(rig.facts()).toEqual(before)
  expect(snapshotTree(rig.root)).toEqual(files)
})

test('a task that commits by itself is not landed on top, and its commits are named as left', async () => {
  const then = rig.git('rev-parse', 'HEAD').trim()
  const files = snapshotTree(rig.root)
  const { code, json } = await rig.task(
    't-1',
    'echo x >> a.txt; git commit -qam self',
    '--commit',
    '--retries',
    '2',
  )
  expect(code).toBe(4)
  expect(json).toMatchObject({ outcome: 'failed', error: { code: 'LANDING_REFUSED' }, head: { then } })
  expect(json.attempts).toHaveLength(1)
  expect(snapshotTree(rig.root)).toEqual(files)
  expect(message()).toBe('self')
})

test('nothing to commit is said so', async () => {
  const { code, json } = await rig.task('t-1', 'echo l > x.log', '--commit')
  expect(code).toBe(0)
  expect(json).not.toHaveProperty('commit')
  expect(json.notLanded).toEqual([{ path: 'x.log', reason: 'ignored' }])
})

describe('what the repository’s owner has set up is honoured', () => {
  const hook = (name: string, text: string) => {
    mkdirSync(rig.at('.git/hooks'), { recursive: true })
    writeFileSync(rig.at(`.git/hooks/${name}`), `#!/bin/sh\n${text}\n`)
    chmodSync(rig.at(`.git/hooks/${name}`), 0o755)
  }

  test('a hook that refuses is a failed landing with its words; the next try may do better', async () => {
    hook(
      'pre-commit',
      'echo looked >> "$PWD/hook.log"; if git diff --cached | grep -q "^+bad"; then echo "bad is not wanted"; exit 1; fi',
    )
    const before = rig.facts()
    const files = snapshotTree(rig.root)
    const failed = await rig.task('t-1', 'echo bad >> a.txt', '--commit')
    expect(failed.code).toBe(1)
    expect(failed.json.error).toMatchObject({
      code: 'LANDING_FAILED',
      details: { said: 'bad is not wanted' },
    })
    expect(rig.facts()).toEqual(before)
    // What the hook wrote belonged to the try.
    expect(snapshotTree(rig.root)).toEqual(files)

    const line = 'if [ "$TURNBACK_ATTEMPT" = 1 ]; then echo bad >> a.txt; else echo good >> a.txt; fi'
    const passed = await rig.task('t-2', line, '--commit', '--retries', '1')
    expect(passed.code).toBe(0)
    expect(rig.git('show', 'HEAD:a.txt')).toBe(`${LINES}good\n`)
  })

  test('what a hook adds is committed, and clean afterwards', async () => {
    rig.write('mine.txt', 'mine\n')
    rig.git('add', 'mine.txt')
    hook('pre-commit', 'sed -i s/good/GOOD/ a.txt; echo f > formatted; git add a.txt formatted')
    expect((await rig.task('t-1', 'echo good >> a.txt', '--commit')).code).toBe(0)
    expect(rig.git('show', 'HEAD:a.txt')).toBe(`${LINES}GOOD\n`)
    expect(rig.facts().status).toBe('A  mine.txt\0')
  })

  test('commits are signed where that is asked for', async () => {
    const program = join(rig.top, 'sign')
    writeFileSync(
      program,
      '#!/bin/sh\ncat >/dev/null\necho "[GNUPG:] SIG_CREATED " >&2\necho SIGNED-BY-TEST\n',
    )
    chmodSync(program, 0o755)
    rig.git('config', 'gpg.program', program)
    rig.git('config', 'commit.gpgSign', 'true')
    expect((await rig.task('t-1', 'echo x >> a.txt', '--commit')).code).toBe(0)
    expect(rig.git('cat-file', 'commit', 'HEAD')).toContain('gpgsig SIGNED-BY-TEST')
  })

  test('line ends and filters are made as git makes them', async () => {
    rig.write('.gitattributes', '*.crlf text eol=crlf\n*.up filter=up\n')
    rig.git('config', 'filter.up.clean', 'tr a-z A-Z')
    rig.git('config', 'filter.up.smudge', 'tr A-Z a-z')
    rig.write('w.crlf', 'one\r\ntwo\r\nthree\r\nfour\r\n')
    rig.write('big.up', 'one\ntwo\nthree\nfour\n')
    rig.git('add', '-A')
    rig.git('commit', '-qm', 'attributes')
    rig.write('w.crlf', 'MINE\r\none\r\ntwo\r\nthree\r\nfour\r\n')
    rig.write('big.up', 'mine\none\ntwo\nthree\nfour\n')
    const { code } = await rig.task(
      't-1',
      "sed -i s/three/drei/ w.crlf big.up; printf 'x\\r\\n' > n.crlf",
      '--commit',
    )
    expect(code).toBe(0)
    expect(rig.git('cat-file', 'blob', 'HEAD:w.crlf')).toBe('one\ntwo\ndrei\nfour\n')
    expect(rig.git('cat-file', 'blob', 'HEAD:big.up')).toBe('ONE\nTWO\nDREI\nFOUR\n')
    expect(rig.git('cat-file', 'blob', 'HEAD:n.crlf')).toBe('x\n')
    expect(rig.facts().status).toBe(' M big.up\0 M w.crlf\0')
  })
})

describe('somebody commits at the same moment', () => {
  /** A git that makes a commit of somebody else's just before one of ours does its work. */
  const withOther = (before: string) => {
    const real = rig.git('--exec-path').trim()
    mkdirSync(join(rig.top, 'bin'))
    const other = '"$real" commit-tree -p HEAD -m other "$("$real" rev-parse HEAD^{tree})"'
    writeFileSync(
      join(rig.top, 'bin', 'git'),
      `#!/bin/sh\nreal='${real}/git'\ncase " $* " in *" ${before} "*) "$real" update-ref HEAD "$(${other})";; esac\nexec "$real" "$@"\n`,
    )
    chmodSync(join(rig.top, 'bin', 'git'), 0o755)
    rig.env.PATH = `${join(rig.top, 'bin')}:${rig.env.PATH}`
  }

  test.each(['interpret-trailers', 'commit'])(
    'before our %s: theirs stays, and ours is not on top',
    async (word) => {
      const then = rig.git('rev-parse', 'HEAD').trim()
      const files = snapshotTree(rig.root)
      const path = rig.env.PATH ?? ''
      withOther(word)
      const { code, json } = await rig.task('t-1', 'echo x >> a.txt', '--commit')
      rig.env.PATH = path
      expect(json.error).toMatchObject({
        code: 'LANDING_FAILED',
        message: expect.stringContaining('same moment'),
      })
      expect(code).not.toBe(0)
      expect(message()).toBe('other')
      expect(rig.git('rev-parse', 'HEAD^').trim()).toBe(then)
      expect(rig.facts().status).toBe('')
      expect(snapshotTree(rig.root)).toEqual(files)
    },
  )
})

describe('where a commit can not be made, nothing is begun', () => {
  const refused = async (): Promise<string> => {
    const { code, json } = await rig.task('t-1', 'echo x >> a.txt', '--commit')
    expect([code, json.error?.code]).toEqual([3, 'TASK_REFUSED'])
    expect((await rig.here(['log', '--json'])).json.turns).toEqual([])
    return json.error?.message ?? ''
  }

  test('in no repository', async () => {
    rig.useTree('plain')
    rig.write('a.txt')
    expect(await refused()).toContain('no git repository')
  })

  test('in the middle of a merge', async () => {
    rig.git('checkout', '-q', '-b', 'side')
    rig.write('a.txt', 'side\n')
    rig.git('commit', '-qam', 'side')
    rig.git('checkout', '-q', 'main')
    rig.write('a.txt', 'main\n')
    rig.git('commit', '-qam', 'main')
    expect(() => rig.git('merge', '-q', 'side')).toThrow()
    expect(await refused()).toContain('merge')
  })

  test('in nobody’s name', async () => {
    rig.git('config', 'user.useConfigOnly', 'true')
    rig.git('config', '--unset', 'user.email')
    expect(await refused()).toContain('in whose name')
  })
})

describe('repositories of all kinds', () => {
  test('before the first commit', async () => {
    rig.useTree('unborn')
    rig.git('init', '-q', '-b', 'main')
    rig.git('config', 'user.name', 'Ada')
    rig.git('config', 'user.email', 'ada@example.com')
    rig.write('mine.txt', 'mine\n')
    rig.git('add', '-A')
    expect((await rig.task('t-1', 'echo n > n', '--commit')).code).toBe(0)
    expect(landedPaths()).toEqual(['A\tn'])
    expect(rig.facts().status).toBe('A  mine.txt\0')
  })

  test('with HEAD on no branch', async () => {
    rig.git('checkout', '-q', '--detach')
    const main = rig.git('rev-parse', 'main')
    expect((await rig.task('t-1', 'echo n > n', '--commit')).code).toBe(0)
    expect(rig.git('rev-parse', 'main')).toBe(main)
    expect(message()).toBe('t-1\n\nTask-Id: t-1')
  })

  test('two linked worktrees do not see each other', async () => {
    rig.git('worktree', 'add', '-q', '-b', 'one', join(rig.top, 'one'))
    rig.git('worktree', 'add', '-q', '-b', 'two', join(rig.top, 'two'))
    const inTree = async (name: string, line: string) => {
      const args = [
        '-C',
        join(rig.top, name),
        'run',
        '--task',
        name,
        '--commit',
        '--json',
        '--',
        'sh',
        '-c',
        line,
      ]
      return rig.here(args)
    }
    // One waits for the other's file: they are at work at the same time.
    const wait = `for i in $(seq 200); do [ -e ${rig.top}/flag ] && break; sleep 0.05; done`
    const [one, two] = await Promise.all([
      inTree('one', `${wait}; echo 1 > a.txt; exit 1`),
      inTree('two', `echo 2 > a.txt; touch ${rig.top}/flag`),
    ])
    expect([one.code, two.code]).toEqual([1, 0])
    expect(rig.git('show', 'one:a.txt')).toBe(LINES)
    expect(rig.git('show', 'two:a.txt')).toBe('2\n')
    expect(rig.git('-C', join(rig.top, 'one'), 'status', '--porcelain')).toBe('')
  })

  test('a workspace that is a folder of one', async () => {
    rig.write('mine.txt', 'mine\n')
    expect((await rig.here(['init', rig.at('src'), '--json'])).code).toBe(0)
    const args = ['-C', rig.at('src'), 'run', '--task', 't-1', '--commit', '--json']
    const { code } = await rig.here([...args, '--', 'sh', '-c', 'echo n > n; echo b2 > b.txt'])
    expect(code).toBe(0)
    expect(landedPaths()).toEqual(['M\tsrc/b.txt', 'A\tsrc/n'])
    expect(rig.facts().status).toBe('?? mine.txt\0')
  })

  test('what lies in a submodule, or in a repository that the task made, is not landed, and said', async () => {
    rig.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', rig.root, 'sub')
    rig.git('commit', '-qm', 'sub')
    const line = 'echo x >> sub/a.txt; git init -q made; echo m > made/m; echo n > n'
    const { code, json } = await rig.task('t-1', line, '--commit')
    expect([code, json.error]).toEqual([0, undefined])
    expect(landedPaths()).toEqual(['A\tn'])
    expect(
      json.notLanded?.filter(({ reason }) => reason === 'other-repository').map(({ path }) => path),
    ).toEqual(['made/m', 'sub/a.txt'])
  })

  test('names that are patterns, options or no text; a file that becomes a folder', async () => {
    symlinkSync('a.txt', rig.at('link'))
    rig.git('add', 'link')
    rig.git('commit', '-qm', 'link')
    const line = [
      "for n in '*' ':(top)x' '-x' 'ü ä' 'line\nend' '#h' '\"q\"' '!y'; do echo n > \"./$n\"; done",
      "printf 'bytes' > \"$(printf 'b\\377')\"",
      'rm link src/b.txt; rmdir src; echo s > src; mkdir link; echo l > link/l',
    ].join('\n')
    const { code, json } = await rig.task('t-1', line, '--commit')
    expect([code, json.error, json.notLanded]).toEqual([0, undefined, []])
    expect(rig.facts().status).toBe('')
    expect(landedPaths()).toHaveLength(13)
  })
})

test('when the index can not follow the commit, the commit is taken off again', async () => {
  const head = rig.git('rev-parse', 'HEAD')
  const hook = rig.at('.git/hooks/post-commit')
  mkdirSync(rig.at('.git/hooks'), { recursive: true })
  writeFileSync(hook, '#!/bin/sh\nmv .git/index .git/kept && mkdir .git/index\n')
  chmodSync(hook, 0o755)
  const { json } = await rig.task('t-1', 'echo h >> a.txt', '--commit')
  expect(json).toMatchObject({ outcome: 'failed', attempts: [{ outcome: 'failed' }] })
  expect(json).not.toHaveProperty('commit')
  expect(rig.text('a.txt')).toBe(LINES)
  expect(rig.git('rev-parse', 'HEAD')).toBe(head)
})
