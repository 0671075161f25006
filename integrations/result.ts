/** What `turnback run --json` printed, as far as a job shows it. */
export interface TaskResult {
  readonly task: string
  readonly outcome: 'landed' | 'rolled-back' | 'failed'
  readonly attempts: readonly Attempt[]
  readonly commit: string | null
  readonly failedDiff: string | null
  /** What was done that files cannot bring back. */
  readonly irreversible: readonly string[]
  /** All of it, as it was printed. */
  readonly text: string
}

interface Attempt {
  readonly turn: string
  readonly exit: number | null
  readonly verified: boolean
  /** The check that did not pass; null when none failed, also because none was reached. */
  readonly failedVerify: string | null
}

const OUTCOMES = ['landed', 'rolled-back', 'failed'] as const

/** Null when it is no result of a task: an error, or nothing. */
export function readResult(text: string): TaskResult | null {
  const parsed = parse(text)
  const task = field(parsed, 'task')
  const outcome = OUTCOMES.find((each) => each === field(parsed, 'outcome'))
  if (typeof task !== 'string' || outcome === undefined) return null
  const attempts = field(parsed, 'attempts')
  return {
    task,
    outcome,
    attempts: Array.isArray(attempts) ? attempts.map(toAttempt) : [],
    commit: textOrNull(field(parsed, 'commit')),
    failedDiff: textOrNull(field(parsed, 'failedDiff')),
    irreversible: listTexts(field(parsed, 'irreversible')),
    text,
  }
}

function toAttempt(value: unknown): Attempt {
  const exit = field(value, 'exit')
  return {
    turn: textOrNull(field(value, 'turn')) ?? '',
    exit: typeof exit === 'number' ? exit : null,
    verified: field(value, 'verified') === true,
    failedVerify: textOrNull(field(value, 'failedVerify')),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function listTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
