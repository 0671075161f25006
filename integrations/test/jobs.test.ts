import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const root = resolve(import.meta.dirname, '../..')

let top: string
let repository: string
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-ci-'))
  repository = join(top, 'repository')
  mkdirSync(repository)
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'ci')
  git('config', 'user.email', 'ci@example.org')
  write('app.txt', 'one\n')
  write('.gitignore', '.env\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  write('.env', 'KEY=1\n')
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' })
const write = (path: string, text: string) => writeFileSync(join(repository, path), text)
const read = (path: string) => readFileSync(join(repository, path), 'utf8')

interface Ran {
  readonly code: number | null
  readonly log: string
  readonly outputs: Readonly<Record<string, string>>
  readonly summary: string
}

/** What every job has, and nothing of this machine's. */
const plain = () => ({
  PATH: process.env.PATH ?? '',
  HOME: join(top, 'user'),
  GIT_CONFIG_NOSYSTEM: '1',
})

function bash(
  script: string,
  cwd: string,
  env: Record<string, string>,
): { code: number | null; log: string } {
  const file = join(top, 'script.sh')
  writeFileSync(file, script)
  // As the runners start it.
  const ran = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], {
    cwd,
    env,
    encoding: 'utf8',
  })
  return { code: ran.status, log: ran.stdout + ran.stderr }
}

/** Carries out the action's own step, with the variables and files of a GitHub runner. */
function onGitHub(inputs: Record<string, string>): Ran {
  const action: Action = parse(readFileSync(join(root, 'integrations/github-action/action.yml'), 'utf8'))
  const step = action.runs.steps.find(({ id }) => id === 'task')
  if (step === undefined) throw new Error('the action has no step that runs the task')
  const files = { output: join(top, 'output'), summary: join(top, 'summary') }
  writeFileSync(files.output, '')
  const given = { 'inputs.': inputs, 'runner.': { temp: join(top, 'runner') } }
  mkdirSync(given['runner.'].temp)
  const fill = (text: string) =>
    text.replace(
      /\$\{\{ (inputs\.|runner\.)([a-z-]+) \}\}/g,
      (_, where: keyof typeof given, name: string) => {
        const value: string | undefined = Reflect.get(given[where], name)
        return value ?? action.inputs[name]?.default ?? ''
      },
    )
  const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, fill(value)]))
  const ran = bash(step.run, join(repository, fill(step['working-directory'])), {
    ...plain(),
    ...env,
    GITHUB_ACTION_PATH: join(root, 'integrations/github-action'),
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
    RUNNER_TEMP: given['runner.'].temp,
  })
  const summary = existsSync(files.summary) ? readFileSync(files.summary, 'utf8') : ''
  return { ...ran, outputs: readGitHubOutputs(readFileSync(files.output, 'utf8')), summary }
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>
  readonly outputs: Readonly<Record<string, { readonly value: string }>>
  readonly runs: {
    readonly steps: readonly {
      readonly id?: string
      readonly run: string
      readonly env: Readonly<Record<string, string>>
      readonly 'working-directory': string
    }[]
  }
}

function readGitHubOutputs(text: string): Record<string, string> {
  const found = text.matchAll(/^([a-z-]+)<<(\S+)\n([\s\S]*?)\n\2$/gm)
  return Object.fromEntries([...found].map(([, name, , value]) => [name, value]))
}

/** Carries out the job's own script, with the variables of a GitLab runner. The clone is this checkout. */
function onGitLab(variables: Record<string, string>): Ran {
  const file = parse(readFileSync(join(root, 'integrations/gitlab/turnback.yml'), 'utf8'))
  const job: { variables: Record<string, string>; script: string[]; after_script: string[] } =
    file['.turnback-task']
  // GitLab's runner checks out a commit, not a branch.
  git('checkout', '-q', '--detach')
  const builds = join(top, 'builds')
  mkdirSync(builds)
  symlinkSync(root, join(builds, 'turnback-client'))
  const env = {
    ...plain(),
    ...job.variables,
    ...variables,
    ...{ GITLAB_CI: 'true', CI: 'true', CI_BUILDS_DIR: builds, CI_PROJECT_DIR: repository, CI_JOB_ID: '7' },
  }
  const ran = bash(job.script.join('\n'), repository, env)
  const folder = join(repository, 'turnback-report')
  const outputs = join(folder, 'outputs.env')
  const lines = existsSync(outputs) ? readFileSync(outputs, 'utf8').trimEnd().split('\n') : []
  const summary = existsSync(outputs) ? readFileSync(join(folder, 'summary.md'), 'utf8') : ''
  return {
    ...ran,
    outputs: Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    summary,
  }
}

describe('the GitHub action', () => {
  test('work that passes lands as one commit, and the job is told of it', () => {
    const ran = onGitHub({
      task: 'add-two',
      title: 'Add the second line',
      run: 'echo two >>app.txt',
      verify: 'grep -q two app.txt\ngrep -q one app.txt\n',
    })
    expect(ran.log).not.toContain('INTERNAL')
    expect(ran.code).toBe(0)
    expect(ran.outputs.outcome).toBe('landed')
    expect(ran.outputs.turn).toMatch(/^t_/)
    expect(ran.outputs.commit).toBe(git('rev-parse', 'HEAD').trim())
    expect(git('log', '-1', '--format=%s %(trailers:key=Task-Id)').trim()).toBe(
      'Add the second line Task-Id: add-two',
    )
    expect(git('status', '--porcelain')).toBe('')
    expect(ran.summary).toContain('landed')
    expect(JSON.parse(readFileSync(ran.outputs.report ?? '', 'utf8')).outcome).toBe('landed')
  })

  test('work that fails is taken back, ignored files too, and its diff is kept', () => {
    const head = git('rev-parse', 'HEAD')
    const ran = onGitHub({
      task: 'break-it',
      run: 'echo bad >app.txt; echo KEY=2 >.env; touch made; exit 3',
    })
    expect(ran.code).toBe(1)
    expect(ran.outputs.outcome).toBe('rolled-back')
    expect(ran.outputs.commit).toBe('')
    expect(read('app.txt')).toBe('one\n')
    expect(read('.env')).toBe('KEY=1\n')
    expect(existsSync(join(repository, 'made'))).toBe(false)
    expect(git('rev-parse', 'HEAD')).toBe(head)
    const diff = readFileSync(ran.outputs['failed-diff'] ?? '', 'utf8')
    expect(diff).toContain('+bad')
    expect(ran.summary).toContain('+bad')
  })

  test('an input that means nothing is told by its name, and nothing is run', () => {
    const ran = onGitHub({ task: 't', run: 'touch made', retries: 'many' })
    expect(ran.code).toBe(2)
    expect(ran.log).toContain('TASK_RETRIES is "many"')
    expect(existsSync(join(repository, 'made'))).toBe(false)
  })

  test('names each output that its step writes', () => {
    const { outputs } = onGitHub({ task: 't', run: 'true' })
    const action: Action = parse(readFileSync(join(root, 'integrations/github-action/action.yml'), 'utf8'))
    const named = Object.values(action.outputs).map(
      ({ value }) => /steps\.task\.outputs\.([a-z-]+)/.exec(value)?.[1],
    )
    expect(named.sort()).toEqual(Object.keys(outputs).sort())
  })
})

describe('the GitLab job', () => {
  test('work that passes lands, and later jobs get its outputs as variables', () => {
    const ran = onGitLab({
      TASK: 'add-two',
      TASK_RUN: 'echo two >>app.txt',
      TASK_VERIFY: 'grep -q two app.txt',
    })
    expect(ran.log).not.toContain('INTERNAL')
    expect(ran.code).toBe(0)
    expect(ran.outputs.TURNBACK_OUTCOME).toBe('landed')
    expect(ran.outputs.TURNBACK_COMMIT).toBe(git('rev-parse', 'HEAD').trim())
    expect(ran.summary).toContain('landed')
  })

  test('work that does not pass is taken back and fails the job', () => {
    const ran = onGitLab({
      TASK: 'no',
      TASK_RUN: 'echo bad >app.txt',
      TASK_VERIFY: 'false',
      TASK_RETRIES: '1',
    })
    expect(ran.code).toBe(1)
    expect(ran.outputs.TURNBACK_OUTCOME).toBe('rolled-back')
    expect(read('app.txt')).toBe('one\n')
    expect(
      JSON.parse(readFileSync(join(repository, 'turnback-report/report.json'), 'utf8')).attempts,
    ).toHaveLength(2)
  })
})
