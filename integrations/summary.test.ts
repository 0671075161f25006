import { expect, test } from 'vitest'
import { readInputs, toArguments, WrongInput } from './inputs.ts'
import { readResult, type TaskResult } from './result.ts'
import { summarise } from './summary.ts'

const landed: TaskResult = {
  task: 'fix',
  outcome: 'landed',
  attempts: [{ turn: 't_1', exit: 0, verified: true, failedVerify: null }],
  commit: 'abc',
  failedDiff: null,
  irreversible: [],
  text: '',
}

test('a name from outside can neither end its marks nor a cell of the table', () => {
  const text = summarise({ ...landed, task: 'a`|</code><script>\n# b' }, null)
  expect(text).not.toContain('<script>')
  expect(text.split('\n')[0]).toBe(
    '### Task <code>a&#96;&#124;&#60;/code&#62;&#60;script&#62;&#10;# b</code> landed',
  )
})

test('a check is said to have failed only when one did', () => {
  const row = (verified: boolean, failedVerify: string | null) =>
    summarise({ ...landed, attempts: [{ turn: 't_1', exit: 0, verified, failedVerify }] }, null)
  expect(row(true, null)).toContain('| passed |')
  expect(row(false, null)).toContain('| none were run |')
  expect(row(false, 'a | b')).toContain('| failed: <code>a &#124; b</code> |')
})

test('nothing in a diff closes its fence', () => {
  const text = summarise({ ...landed, outcome: 'rolled-back' }, '+````\n+# not a heading')
  expect(text).toContain('\n`````diff\n')
})

test('a result is taken as it was printed, and what is none is none', () => {
  const printed = {
    task: 'x',
    outcome: 'rolled-back',
    attempts: [{ turn: 't', exit: 3, verified: false, failedVerify: null }],
  }
  expect(readResult(JSON.stringify(printed))).toMatchObject({ ...printed, commit: null, failedDiff: null })
  for (const text of ['', '{', 'null', '{"error":{"code":"USAGE"}}', '{"task":"x","outcome":"done"}'])
    expect(readResult(text)).toBeNull()
})

test('each line of the checks is a step, and the work runs in one bash that ends at its first failure', () => {
  const inputs = readInputs({ TASK: 't', TASK_RUN: 'a\nb', TASK_VERIFY: 'one\n\n two ', TASK_RETRIES: '2' })
  expect(toArguments(inputs)).toEqual([
    ...['run', '--json', '--task', 't', '--verify', 'one', '--verify', 'two'],
    ...['--retries', '2', '--retry-from', 'clean', '--commit', '--on-fail', 'rollback'],
    ...['--', 'bash', '-eo', 'pipefail', '-c', 'a\nb'],
  ])
})

test.each([
  { TASK: '', TASK_RUN: 'a' },
  { TASK: 't' },
  { TASK: 't', TASK_RUN: 'a', TASK_RETRIES: '-1' },
  { TASK: 't', TASK_RUN: 'a', TASK_COMMIT: 'yes' },
  { TASK: 't', TASK_RUN: 'a', TASK_ON_FAIL: 'ignore' },
])('refuses %o', (env) => {
  expect(() => readInputs(env)).toThrow(WrongInput)
})
