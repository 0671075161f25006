import { afterEach, beforeEach, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'
import { differences, snapshotTree } from './support/tree-snapshot.ts'

// The story that the orchestrator is for: seven tasks in a night. The third changes a default that nobody asked it to
// change, four more build on what is there then, one dies half-way; in the morning the third is to go, and nothing else.

let rig: TaskRig

const CONFIG = ['port = 80', '', 'timeout = 30', '', 'retries = 5', '', 'mode = "safe"', ''].join('\n')

beforeEach(() => {
  rig = new TaskRig('night')
  rig.initGit({ 'config.toml': CONFIG, 'src/main.txt': 'main\n', '.gitignore': '*.log\n.env\n' })
  rig.write('.env', 'KEY=1\n')
  // What its person left for tomorrow.
  rig.write('draft.txt', 'staged\n')
  rig.git('add', 'draft.txt')
  rig.write('draft.txt', 'staged, and a thought\n')
  rig.write('notes.txt', 'not known to git\n')
})

afterEach(() => rig.dispose())

const TASKS: readonly (readonly [id: string, line: string])[] = [
  ['task-001', 'echo one > src/one.txt'],
  ['task-002', 'sed -i "s/port = 80/port = 8080/" config.toml; echo two >> src/main.txt'],
  [
    'task-003',
    'sed -i "s/timeout = 30/timeout = 5/" config.toml; mkdir -p src/cache; echo c > src/cache/c.txt; echo l > run.log',
  ],
  ['task-004', 'sed -i "s/retries = 5/retries = 9/" config.toml; echo four > src/four.txt'],
  ['task-005', 'grep -q "timeout = 5" config.toml; echo five >> src/main.txt'],
  ['task-006', 'sed -i "s/safe/fast/" config.toml'],
  ['task-007', 'echo seven > src/seven.txt; rm src/one.txt'],
]

/** Everything of the repository that is no landed commit. */
function surroundings(own: readonly string[]) {
  const { index, refs, head } = rig.facts()
  const isOwn = (line: string) => own.some((path) => line.endsWith(`\t${path}`))
  return {
    index: index.split('\0').filter((line) => !isOwn(line)),
    refs: refs.split('\n').filter((line) => !line.endsWith('refs/heads/main')),
    head,
  }
}

const OWN = ['config.toml', 'src/main.txt', 'src/one.txt', 'src/four.txt', 'src/seven.txt', 'src/cache/c.txt']

async function runNight() {
  const before = surroundings(OWN)
  const { status } = rig.facts()
  for (const [id, line] of TASKS) {
    const { code, json } = await rig.task(
      id,
      line,
      '--commit',
      '--title',
      `work of ${id}`,
      '--verify',
      'true',
    )
    expect([id, code, json.error]).toEqual([id, 0, undefined])
    expect(surroundings(OWN)).toEqual(before)
    expect(rig.facts().status).toBe(status)
  }
  return { before, status }
}

test('seven tasks land as seven commits; the third is reverted, and the four that build on it stay', async () => {
  const { before, status } = await runNight()
  expect(
    rig.git('log', '--format=%s|%(trailers:key=Task-Id,valueonly,separator=%x2C)', '-7').trim().split('\n'),
  ).toEqual(TASKS.map(([id]) => `work of ${id}|${id}`).toReversed())
  const files = snapshotTree(rig.root)
  const head = rig.git('rev-parse', 'HEAD').trim()

  const reverted = await rig.here(['revert', 'task-003', '--json'])
  expect(reverted.code).toBe(0)
  expect(reverted.json).toMatchObject({ task: 'task-003', revertedBy: rig.git('rev-parse', 'HEAD').trim() })
  expect(rig.git('rev-parse', 'HEAD^').trim()).toBe(head)
  expect(rig.text('config.toml')).toBe(
    CONFIG.replace('80', '8080').replace('retries = 5', 'retries = 9').replace('safe', 'fast'),
  )
  // Only its own work, and the folder that it had made.
  expect(differences(files, snapshotTree(rig.root)).map((line) => line.split(':')[0]?.split(' ')[0])).toEqual(
    ['config.toml', 'src/cache', 'src/cache/c.txt'],
  )
  expect(surroundings(OWN)).toEqual(before)
  expect(rig.facts().status).toBe(status)

  // It is a turn: to undo it gives the files back; the commit stays.
  expect((await rig.here(['undo', '--json'])).json).toMatchObject({ status: 'done', kept: [] })
  expect(differences(files, snapshotTree(rig.root))).toEqual([])
  expect(rig.git('show', '-s', '--format=%(trailers:key=Reverts-Task,valueonly)', 'HEAD').trim()).toBe(
    'task-003',
  )
})

test('a task that dies half-way leaks nothing into the next', async () => {
  await rig.task('task-001', 'echo one > src/one.txt', '--commit')
  const files = snapshotTree(rig.root)
  const facts = rig.facts()
  const line =
    'sed -i "s/timeout = 30/timeout = 1/" config.toml; echo half > src/half.txt; echo KEY=2 > .env; git add -A; kill -9 $$'
  const dead = await rig.task('task-002', line, '--commit')
  expect(dead.code).toBe(1)
  expect(dead.json.attempts).toMatchObject([{ exit: 137, outcome: 'failed' }])
  expect(differences(files, snapshotTree(rig.root))).toEqual([])
  expect(rig.facts()).toEqual(facts)
  const next = await rig.task('task-003', 'cat config.toml > src/seen.txt', '--commit')
  expect(next.code).toBe(0)
  expect(rig.git('show', '--format=', '--name-only', 'HEAD').trim()).toBe('src/seen.txt')
  expect(rig.git('show', 'HEAD:src/seen.txt')).toBe(CONFIG)
})

test('control: where nothing takes the dead one’s work back, the next task meets it', async () => {
  await rig.task('task-001', 'echo half >> src/main.txt; exit 1', '--on-fail', 'keep')
  const { json } = await rig.task('task-002', 'echo two >> src/main.txt', '--commit')
  // Not even then it is committed under the next one’s name.
  expect(json.error?.code).toBe('LANDING_REFUSED')
  expect(rig.text('src/main.txt')).toBe('main\nhalf\n')
})
