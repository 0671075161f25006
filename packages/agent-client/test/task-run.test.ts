import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let rig: TaskRig

beforeEach(() => {
  rig = new TaskRig()
  rig.initGit({ 'a.txt': 'one\ntwo\n', 'src/b.txt': 'b\n', '.gitignore': '.env\n' })
  rig.write('.env', 'KEY=1\n')
})

afterEach(() => rig.dispose())

const MESS = 'echo more >> a.txt; rm src/b.txt; mkdir new; echo n > new/n; echo KEY=2 > .env'

test('a task that passes stays, as one turn of kind task in the task’s own session', async () => {
  const { code, json } = await rig.task('t-1', 'echo more >> a.txt', '--verify', 'grep -q more a.txt')
  expect(code).toBe(0)
  expect(json).toMatchObject({ task: 't-1', outcome: 'landed', attempts: [{ exit: 0, verified: true }] })
  expect(rig.text('a.txt')).toBe('one\ntwo\nmore\n')
  const turn = (await rig.here(['show', json.attempts[0]?.turn ?? '', '--json'])).json
  expect(turn).toMatchObject({ kind: 'task', task: 't-1', session: 't-1', endReason: 'completed' })
  expect(json).not.toHaveProperty('failedDiff')
})

test('a task that fails leaves the tree as it was, byte for byte, and its turn and diff are kept', async () => {
  const before = snapshotTree(rig.root)
  const { code, json } = await rig.task('t-1', `${MESS}; exit 7`)
  expect(code).toBe(1)
  expect(json).toMatchObject({ outcome: 'rolled-back', attempts: [{ exit: 7, verified: false }], kept: [] })
  expect(snapshotTree(rig.root)).toEqual(before)
  const diff = readFileSync(json.failedDiff ?? '', 'utf8')
  expect(diff).toContain('+more')
  expect(diff).toContain('.env: changed, and not shown')
  expect(diff).not.toContain('KEY=')
  const turn = (await rig.here(['show', json.attempts[0]?.turn ?? '', '--json'])).json
  expect(turn).toMatchObject({ kind: 'task', endReason: 'failed' })
})

test('what verifying writes is the task’s, and goes with it', async () => {
  const before = snapshotTree(rig.root)
  const { code, json } = await rig.task('t-1', MESS, '--verify', 'echo x > report.xml; exit 1')
  expect(code).toBe(1)
  expect(json.attempts).toMatchObject([{ exit: 0, verified: false }])
  expect(snapshotTree(rig.root)).toEqual(before)
})

test('a further try begins clean and has the diff of the failed one', async () => {
  const line =
    'if [ -z "$TURNBACK_FAILED_DIFF" ]; then echo wrong >> a.txt; else grep -q "^+wrong" "$TURNBACK_FAILED_DIFF" && cp a.txt seen && echo "$TURNBACK_ATTEMPT" >> a.txt; fi'
  const { code, json } = await rig.task('t-1', line, '--retries', '2', '--verify', '! grep -q wrong a.txt')
  expect(code).toBe(0)
  expect(json.attempts).toMatchObject([
    { exit: 0, verified: false, outcome: 'failed' },
    { exit: 0, verified: true, outcome: 'passed' },
  ])
  expect(rig.text('seen')).toBe('one\ntwo\n')
  expect(rig.text('a.txt')).toBe('one\ntwo\n2\n')
})

test('a further try from the current state goes on, and all tries are taken back in the end', async () => {
  const before = snapshotTree(rig.root)
  const options = ['--retries', '2', '--retry-from', 'current', '--verify', 'test "$(wc -l < a.txt)" -ge 4']
  const passed = await rig.task('t-1', 'echo more >> a.txt', ...options)
  expect(passed.json.outcome).toBe('landed')
  expect(rig.text('a.txt')).toBe('one\ntwo\nmore\nmore\n')
  expect((await rig.here(['restore', passed.json.attempts[0]?.turn ?? ''])).code).toBe(0)
  expect(snapshotTree(rig.root)).toEqual(before)

  const failed = await rig.task(
    't-2',
    'echo more >> a.txt; echo $TURNBACK_ATTEMPT > n-$TURNBACK_ATTEMPT',
    ...options.slice(0, 4),
    '--verify',
    'false',
  )
  expect(failed.code).toBe(1)
  expect(failed.json.attempts).toHaveLength(3)
  expect(snapshotTree(rig.root)).toEqual(before)
})

test('a further try begins from the last good state: what was verified or called good stays', async () => {
  const turnback = `'${process.execPath}' '${new URL('../src/main.ts', import.meta.url).pathname}'`
  const line = [
    'if [ "$TURNBACK_ATTEMPT" = 1 ]; then echo good > good; fi',
    `if [ "$TURNBACK_ATTEMPT" = 1 ]; then ${turnback} checkpoint --task "$TURNBACK_TASK" >/dev/null; echo bad > bad; exit 1; fi`,
    'test -f good && ! test -f bad && echo done > done',
  ].join('\n')
  const { code, json } = await rig.task('t-1', line, '--retries', '1', '--retry-from', 'last-good')
  expect(json.attempts.map(({ exit }) => exit)).toEqual([1, 0])
  expect(code).toBe(0)
  expect([rig.text('good'), rig.text('done')]).toEqual(['good\n', 'done\n'])
})

test('--on-fail keep leaves the work there, and says so by its exit code', async () => {
  const { code, json } = await rig.task('t-1', 'echo more >> a.txt; exit 1', '--on-fail', 'keep')
  expect(code).toBe(4)
  expect(json.outcome).toBe('failed')
  expect(rig.text('a.txt')).toBe('one\ntwo\nmore\n')
  expect((await rig.here(['undo'])).code).toBe(0)
  expect(rig.text('a.txt')).toBe('one\ntwo\n')
})

test('a command that is not there fails, and words after -- are not ours', async () => {
  const gone = await rig.here([
    'run',
    '--task',
    't-1',
    '--json',
    '--',
    'no-such-program-here',
    '--json',
    '-C',
    '/',
  ])
  expect(gone.code).toBe(1)
  expect(gone.json).toMatchObject({ outcome: 'rolled-back', attempts: [{ exit: 127 }] })
})

test('without git a task is run and taken back all the same; only a commit is refused', async () => {
  const before = snapshotTree(rig.root)
  mkdirSync(`${rig.top}/bin`)
  symlinkSync('/bin/sh', `${rig.top}/bin/sh`)
  rig.env.PATH = `${rig.top}/bin`
  const { code, json, stderr } = await rig.task('t-1', 'echo more >> a.txt; exit 1')
  expect([code, json.outcome]).toEqual([1, 'rolled-back'])
  expect(stderr).toContain('git can not be started')
  expect(snapshotTree(rig.root)).toEqual(before)
  expect((await rig.task('t-2', 'true', '--commit')).code).toBe(3)
})

test('steps that passed are checkpoints of the task', async () => {
  await rig.task('t-1', 'echo 1 > one', '--verify', 'test -f one', '--verify', 'echo 2 > two')
  const { turns } = (await rig.here(['log', '--kind', 'checkpoint', '--json'])).json
  expect(turns).toHaveLength(2)
})

test.each(['', ' ', 't ', '\u00a0t', 'a\nb'])('%j is no name that a commit could be found by', async (id) => {
  const { code, json } = await rig.task(id, 'echo x > x', '--commit')
  expect(code).toBe(2)
  expect(json.error).toMatchObject({ code: 'USAGE' })
  expect(existsSync(rig.at('x'))).toBe(false)
})

test('a merge that the person has open stays open, though the task staged it', async () => {
  rig.git('checkout', '-q', '-b', 'other')
  rig.write('a.txt', 'theirs\n')
  rig.git('commit', '-q', '-a', '-m', 'theirs')
  rig.git('checkout', '-q', 'main')
  rig.write('a.txt', 'ours\n')
  rig.git('commit', '-q', '-a', '-m', 'ours')
  expect(() => rig.git('merge', '-q', 'other')).toThrow()
  const before = { ...rig.facts(), tree: snapshotTree(rig.root) }
  expect(before.status).toContain('UU a.txt')
  for (const line of ['git add -A; false', 'git checkout --ours -q a.txt; false', 'false']) {
    expect((await rig.task('t-1', line)).json).toMatchObject({ outcome: 'rolled-back' })
    expect({ ...rig.facts(), tree: snapshotTree(rig.root) }).toEqual(before)
  }
  const { code, json } = await rig.task('t-1', 'git merge --abort; false')
  expect(code).toBe(4)
  expect(json.error?.message).toContain('ended the merge')
})

test('a merge that the task began and left is not told as taken back', async () => {
  rig.git('checkout', '-q', '-b', 'other')
  rig.write('c.txt', 'theirs\n')
  rig.git('add', 'c.txt')
  rig.git('commit', '-q', '-m', 'theirs')
  rig.git('checkout', '-q', 'main')
  rig.git('commit', '-q', '--allow-empty', '-m', 'ours')
  const before = rig.facts()
  const { code, json } = await rig.task('t-1', 'git merge -q --no-commit other; false')
  expect({ code, outcome: json.outcome }).toEqual({ code: 4, outcome: 'failed' })
  expect(json.error?.message).toContain('git merge --abort')
  expect(rig.facts()).toEqual(before)
})

test('commits that a failed task made in a submodule stay, and are told with what puts them back', async () => {
  rig.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', rig.root, 'sub')
  rig.git('commit', '-qm', 'sub')
  const head = rig.git('-C', 'sub', 'rev-parse', 'HEAD').trim()
  const line = 'cd sub; echo x >> a.txt; git -c user.name=a -c user.email=a@example.com commit -qam x; exit 1'
  const { code, json } = await rig.task('t', line)
  expect([code, json.outcome]).toEqual([4, 'failed'])
  expect(json.error?.message).toContain(`submodule sub: \`git reset ${head}\``)
  expect(rig.text('sub/a.txt')).toBe('one\ntwo\n')
  rig.git('-C', 'sub', 'reset', '-q', head)
  expect(rig.git('status', '--porcelain')).toBe('')
})
