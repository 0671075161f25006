/** What a job asks for. Checked here as far as `turnback run` could not say which variable is wrong. */
export interface Inputs {
  readonly task: string
  readonly run: string
  /** Steps that have to pass, in this order. */
  readonly verify: readonly string[]
  readonly title: string | null
  readonly retries: number
  readonly retryFrom: string
  readonly commit: boolean
  readonly onFail: string
}

export class WrongInput extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WrongInput'
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** @throws WrongInput */
export function readInputs(env: Environment): Inputs {
  return {
    task: need(env, 'TASK'),
    run: need(env, 'TASK_RUN'),
    verify: (env.TASK_VERIFY ?? '').split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()])),
    title: env.TASK_TITLE?.trim() || null,
    retries: readCount(env, 'TASK_RETRIES'),
    retryFrom: readChoice(env, 'TASK_RETRY_FROM', ['clean', 'current', 'last-good']),
    commit: readChoice(env, 'TASK_COMMIT', ['true', 'false']) === 'true',
    onFail: readChoice(env, 'TASK_ON_FAIL', ['rollback', 'keep']),
  }
}

/** The words after `turnback`. */
export function toArguments(inputs: Inputs): string[] {
  return [
    ...['run', '--json', '--task', inputs.task],
    ...(inputs.title === null ? [] : ['--title', inputs.title]),
    ...inputs.verify.flatMap((step) => ['--verify', step]),
    ...['--retries', String(inputs.retries), '--retry-from', inputs.retryFrom],
    ...(inputs.commit ? ['--commit'] : []),
    ...['--on-fail', inputs.onFail],
    // As the runners run scripts: the first command that fails is the end.
    ...['--', 'bash', '-eo', 'pipefail', '-c', inputs.run],
  ]
}

function need(env: Environment, name: string): string {
  const value = env[name]
  if (value === undefined || value.trim() === '')
    throw new WrongInput(`${name} is empty: it has to be given.`)
  return value
}

function readCount(env: Environment, name: string): number {
  const value = env[name] || '0'
  if (!/^\d{1,3}$/.test(value)) throw new WrongInput(`${name} is "${value}": it has to be a whole number.`)
  return Number(value)
}

function readChoice(env: Environment, name: string, choices: readonly [string, ...string[]]): string {
  const value = env[name] || choices[0]
  if (choices.includes(value)) return value
  throw new WrongInput(`${name} is "${value}": it has to be one of ${choices.join(', ')}.`)
}
