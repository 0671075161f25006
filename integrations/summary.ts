import type { TaskResult } from './result.ts'

const HEADINGS: Readonly<Record<TaskResult['outcome'], string>> = {
  landed: 'landed',
  'rolled-back': 'did not pass, and was rolled back',
  failed: 'did not pass, and is not rolled back whole',
}
/** Pages of runners take a mebibyte; nobody reads more of a diff than this there. */
const DIFF_CHARACTERS = 60_000
/** Holds more than that, whatever the characters are. */
export const DIFF_BYTES = 4 * DIFF_CHARACTERS + 4

/** What a person reads on the job's page, as Markdown. @param diff of the try that failed, or null */
export function summarise(result: TaskResult, diff: string | null): string {
  const { task, outcome, attempts, commit, irreversible } = result
  return [
    `### Task ${code(task)} ${HEADINGS[outcome]}`,
    ...(commit === null ? [] : [`Commit ${code(commit)}`]),
    table(attempts),
    ...(irreversible.length === 0
      ? []
      : [`**What files cannot bring back**\n\n${irreversible.map((each) => `- ${code(each)}`).join('\n')}`]),
    ...(diff === null ? [] : [details(diff)]),
  ]
    .map((part) => `${part}\n`)
    .join('\n')
}

export function summariseError(printed: string, exitCode: number): string {
  return `### The task could not be run (exit code ${exitCode})\n\n${fence(printed.trim() || 'Nothing was printed.', 'json')}\n`
}

function table(attempts: TaskResult['attempts']): string {
  const rows = attempts.map(
    (attempt, i) =>
      `| ${i + 1} | ${code(attempt.turn)} | ${attempt.exit ?? '–'} | ${checksInWords(attempt)} |`,
  )
  return ['| Try | Turn | Exit | Checks |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

/** A try whose command failed never came to its checks, and there may be none. */
function checksInWords({ verified, failedVerify }: TaskResult['attempts'][number]): string {
  if (verified) return 'passed'
  return failedVerify === null ? 'none were run' : `failed: ${code(failedVerify)}`
}

function details(diff: string): string {
  const isLong = diff.length > DIFF_CHARACTERS
  const shown = isLong ? diff.slice(0, DIFF_CHARACTERS) : diff
  const rest = isLong ? '\n\nThe rest is in the file.' : ''
  return `<details><summary>What the failed try changed</summary>\n\n${fence(shown, 'diff')}${rest}\n\n</details>`
}

/** A fence that nothing inside it can close. */
function fence(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const marks = '`'.repeat(longest + 1)
  return `${marks}${language}\n${text}\n${marks}`
}

/** A name from outside, which can neither end its own marks nor a table's cell. */
function code(text: string): string {
  return `<code>${text.replace(/[&<>|`\r\n]/g, (each) => `&#${each.charCodeAt(0)};`)}</code>`
}
