import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let rig: TaskRig
const started: ChildProcess[] = []
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

beforeEach(() => {
  rig = new TaskRig('stop')
  rig.initGit({ 'a.txt': 'a\n' })
})

afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  rig.dispose()
})

interface Started {
  readonly child: ChildProcess
  /** Its exit code and what it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string }>
}

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: rig.root,
    env: rig.env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  return { child, ended: once(child, 'close').then(([code]) => ({ code, stdout })) }
}

async function until(isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((done) => setTimeout(done, 10))
}

const isRunning = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
const pidIn = (path: string) => Number(rig.text(path).trim())

/** Changes the tree, leaves word of two processes of its own, and stays. */
const STAYS = 'echo more >> a.txt; sleep 600 & echo $! > ../inner; echo $$ > ../outer; touch ../ready; wait'

describe.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)('%s', (signal) => {
  test('ends all that the task started, takes its work back, and is an interruption', async () => {
    const before = snapshotTree(rig.root)
    const { child, ended } = start('run', '--task', 't', '--retries', '3', '--json', '--', 'sh', '-c', STAYS)
    await until(() => existsSync(rig.at('../ready')))
    child.kill(signal)
    const { code, stdout } = await ended
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: 'rolled-back',
      attempts: [{ verified: false, outcome: 'interrupted' }],
      interruptedBy: signal,
    })
    expect(snapshotTree(rig.root)).toEqual(before)
    expect([pidIn('../inner'), pidIn('../outer')].filter(isRunning)).toEqual([])
    const { turns } = (await rig.here(['log', '--kind', 'task', '--json'])).json
    expect(turns).toMatchObject([{ endReason: 'interrupted' }])
  })
})

test('what does not listen to TERM is killed, at once when asked twice', async () => {
  const before = snapshotTree(rig.root)
  const line = "trap '' TERM INT; echo more >> a.txt; touch ../ready; while :; do sleep 1; done"
  const { child, ended } = start('run', '--task', 't', '--json', '--', 'sh', '-c', line)
  await until(() => existsSync(rig.at('../ready')))
  child.kill('SIGINT')
  child.kill('SIGTERM')
  expect((await ended).code).toBe(130)
  expect(snapshotTree(rig.root)).toEqual(before)
})

test('a try that was interrupted while it was verified goes too', async () => {
  const before = snapshotTree(rig.root)
  const verify = 'echo v > report; touch ../ready; sleep 600'
  const { child, ended } = start(
    'run',
    '--task',
    't',
    '--json',
    '--verify',
    verify,
    '--',
    'sh',
    '-c',
    'echo x > x',
  )
  await until(() => existsSync(rig.at('../ready')))
  child.kill('SIGTERM')
  const { code, stdout } = await ended
  expect([code, JSON.parse(stdout).outcome]).toEqual([130, 'rolled-back'])
  expect(snapshotTree(rig.root)).toEqual(before)
})

test('after SIGKILL of the run itself: no other run while its programs live, then its turn is lost and can be undone', async () => {
  const before = snapshotTree(rig.root)
  const { child, ended } = start('run', '--task', 't', '--json', '--', 'sh', '-c', STAYS)
  await until(() => existsSync(rig.at('../ready')))
  child.kill('SIGKILL')
  await ended
  const held = await rig.task('u', 'true')
  expect([held.code, held.json.error?.code]).toEqual([3, 'TASK_RUNNING'])
  for (const path of ['../outer', '../inner']) process.kill(pidIn(path), 'SIGKILL')
  await until(() => !isRunning(pidIn('../outer')) && !isRunning(pidIn('../inner')))

  const status = await rig.here(['status', '--json'])
  expect(status.json).toMatchObject({ openTurns: [], cutOffTask: { task: 't' } })
  expect((await rig.here(['log', '--json'])).json.turns).toMatchObject([{ kind: 'task', endReason: 'lost' }])
  expect((await rig.here(['undo', '--json'])).json).toMatchObject({ status: 'done' })
  expect(snapshotTree(rig.root)).toEqual(before)
  expect((await rig.here(['status', '--json'])).json).toMatchObject({ cutOffTask: null })
  const next = await rig.task('u', 'echo u > u')
  expect(next.code).toBe(0)
})

describe.skipIf(spawnSync('script', ['--version']).status !== 0)('at a terminal', () => {
  const inTerminal = (line: string) => {
    const words = [process.execPath, MAIN, 'run', '--task', 't', '--', 'sh', '-c', line]
    const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
    const stdio = ['pipe', 'pipe', 'ignore'] as const
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: rig.root,
      env: rig.env,
      stdio: [...stdio],
    })
    started.push(child)
    child.stdout?.resume()
    return { child, ended: once(child, 'exit').then(([code]) => Number(code)) }
  }

  test('the task has it, and Ctrl-C there ends the task, and takes it back', async () => {
    const before = snapshotTree(rig.root)
    const { child, ended } = inTerminal(STAYS)
    await until(() => existsSync(rig.at('../ready')))
    child.stdin?.write('\x03')
    expect(await ended).toBe(130)
    expect(snapshotTree(rig.root)).toEqual(before)
    expect([pidIn('../inner'), pidIn('../outer')].filter(isRunning)).toEqual([])
  })

  test('what is typed goes to the task, and it can not be left suspended', async () => {
    const { child, ended } = inTerminal('touch ../ready; read word </dev/tty; echo "$word" > typed')
    await until(() => existsSync(rig.at('../ready')))
    child.stdin?.write('\x1a')
    child.stdin?.write('hello\n')
    expect(await ended).toBe(0)
    expect(rig.text('typed')).toBe('hello\n')
  })
})

test('two runs in one tree are refused; the first goes on', async () => {
  const { ended } = start(
    'run',
    '--task',
    't',
    '--json',
    '--',
    'sh',
    '-c',
    'touch ../ready; until [ -e ../go ]; do sleep 0.05; done',
  )
  await until(() => existsSync(rig.at('../ready')))
  const second = await rig.task('u', 'echo u > u')
  expect([second.code, second.json.error]).toMatchObject([
    3,
    { code: 'TASK_RUNNING', details: { task: 't' } },
  ])
  expect(existsSync(rig.at('u'))).toBe(false)
  rig.write('../go')
  expect((await ended).code).toBe(0)
})

test('what a failed try left running is ended with its group; what left the group, or passed, is told', async () => {
  const failed = await rig.task('t', 'sleep 600 & echo $! > ../inner; exit 1')
  expect(failed.json.outcome).toBe('rolled-back')
  expect(isRunning(pidIn('../inner'))).toBe(false)

  const passed = await rig.task(
    'u',
    // Until it has become what it is to be.
    'setsid sleep 600 & echo $! > ../inner; until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done',
  )
  const [left] = passed.json.stillRunning
  expect(passed.json.stillRunning).toMatchObject([{ command: 'sleep' }])
  process.kill(left?.pid ?? 0, 'SIGKILL')
})

describe('others in the tree', () => {
  test('what another session did meanwhile is kept, and named', async () => {
    const turnback = `'${process.execPath}' '${MAIN}'`
    const line = [
      `env -u TURNBACK_TURN ${turnback} begin --session other --turn k >/dev/null`,
      `env -u TURNBACK_TURN ${turnback} event --session other --turn k --type tool.before --tool Edit --path b.txt >/dev/null`,
      'echo theirs > b.txt; echo mine > c.txt',
      `env -u TURNBACK_TURN ${turnback} event --session other --turn k --type tool.after --tool Edit --path b.txt >/dev/null`,
      `env -u TURNBACK_TURN ${turnback} end --session other --turn k >/dev/null`,
      'echo more >> a.txt; exit 1',
    ].join(' && ')
    const { code, json } = await rig.task('t', line, '--retries', '2')
    // While both were at work nobody can tell whose this one is; the rest goes.
    expect(json.kept).toMatchObject([{ path: 'c.txt', reason: 'shared' }])
    expect([code, json.outcome]).toEqual([4, 'failed'])
    // Nothing is tried on top of what could not be taken back.
    expect(json.attempts).toHaveLength(1)
    expect([rig.text('a.txt'), rig.text('b.txt'), rig.text('c.txt')]).toEqual(['a\n', 'theirs\n', 'mine\n'])
  })
})

describe('--hold-external', () => {
  test('without a terminal, what reaches beyond the files is not begun', async () => {
    const { code, json } = await rig.task('t', 'git push; echo x > x', '--hold-external')
    expect([code, json.error]).toMatchObject([
      3,
      { code: 'EXTERNAL_HELD', details: { effects: ['git push'] } },
    ])
    expect((await rig.here(['status', '--json'])).json.workspace).toBeNull()
    const verify = await rig.task('t', 'echo x > x', '--hold-external', '--verify', 'psql -c "select 1"')
    expect(verify.code).toBe(3)
    expect((await rig.task('t', 'echo x > x', '--hold-external')).code).toBe(0)
  })
})

describe('somebody else closes the turn while the command runs', () => {
  async function meanwhile(command: readonly string[], exit: number, ...options: string[]) {
    const line = `echo early > early; touch ../ready; until [ -e ../go ]; do sleep 0.02; done; echo late > late; exit ${exit}`
    const ran = rig.task('t', line, ...options)
    await until(() => existsSync(rig.at('../ready')))
    await rig.here(command)
    rig.write('../go', '')
    return ran
  }

  test.each([
    { command: ['end', '--session', 't'], left: ['late'] },
    { command: ['undo'], left: ['late'] },
    { command: ['begin', '--session', 't'], left: [] },
  ])(
    '$command: what is left of its work is listed, and not told as taken back',
    async ({ command, left }) => {
      const { code, json } = await meanwhile(command, 1)
      expect(json).toMatchObject({
        outcome: left.length > 0 ? 'failed' : 'rolled-back',
        attempts: [{ exit: 1, outcome: 'interrupted' }],
        kept: left.map((path) => ({ path, reason: 'unknown-writer' })),
      })
      expect(code).toBe(left.length > 0 ? 4 : 1)
      expect(['early', 'late'].filter((path) => existsSync(rig.at(path)))).toEqual(left)
      expect(readFileSync(json.failedDiff ?? '', 'utf8')).toContain('another command closed its turn')
    },
  )

  test('half of its work is not landed', async () => {
    const before = rig.facts()
    const { json } = await meanwhile(['end', '--session', 't'], 0, '--commit')
    expect(json).toMatchObject({ outcome: 'failed', attempts: [{ exit: 0, outcome: 'interrupted' }] })
    const { refs, index } = rig.facts()
    expect({ refs, index }).toEqual({ refs: before.refs, index: before.index })
  })
})
