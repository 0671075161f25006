import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { TaskResult } from './result.ts'
import { DIFF_BYTES, summarise, summariseError } from './summary.ts'

type Environment = Readonly<Record<string, string | undefined>>

export interface Report {
  readonly result: TaskResult | null
  /** What was printed instead of a result. */
  readonly error: string | null
  readonly code: number
}

/** Where a job's outputs and its page go. */
export interface Ci {
  report(report: Report): void
}

/** By the variables that each runner sets for its jobs; without any of them, nothing is written. */
export function findCi(env: Environment): Ci {
  const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, RUNNER_TEMP, CI_PROJECT_DIR } = env
  if (GITHUB_OUTPUT !== undefined && RUNNER_TEMP !== undefined)
    return onGitHub(GITHUB_OUTPUT, GITHUB_STEP_SUMMARY ?? null, join(RUNNER_TEMP, 'turnback-report'))
  if (env.GITLAB_CI !== undefined && CI_PROJECT_DIR !== undefined)
    return onGitLab(join(CI_PROJECT_DIR, 'turnback-report'))
  return { report: () => {} }
}

function onGitHub(outputs: string, page: string | null, folder: string): Ci {
  return {
    report(report) {
      const files = writeFiles(folder, report)
      appendFileSync(outputs, listOutputs(report, files).map(toGitHubOutput).join(''))
      if (page !== null) appendFileSync(page, files.summary)
    },
  }
}

function onGitLab(folder: string): Ci {
  return {
    report(report) {
      const files = writeFiles(folder, report)
      // A dotenv report takes single lines only.
      const lines = listOutputs(report, files).map(
        ([name, value]) =>
          `TURNBACK_${name.toUpperCase().replaceAll('-', '_')}=${value.replace(/[\r\n]/g, ' ')}\n`,
      )
      writeFileSync(join(folder, 'outputs.env'), lines.join(''))
    },
  }
}

interface Files {
  readonly report: string
  readonly failedDiff: string | null
  readonly summary: string
}

/** The report, the diff and the page, in a folder that can be kept as an artifact. */
function writeFiles(folder: string, { result, error, code }: Report): Files {
  mkdirSync(folder, { recursive: true })
  const report = join(folder, 'report.json')
  writeFileSync(report, result?.text ?? error ?? '')
  let failedDiff: string | null = null
  if (result !== null && result.failedDiff !== null) {
    failedDiff = join(folder, 'failed.diff')
    copyFileSync(result.failedDiff, failedDiff)
  }
  const summary =
    result === null
      ? summariseError(error ?? '', code)
      : summarise(result, failedDiff === null ? null : readBeginning(failedDiff, DIFF_BYTES))
  writeFileSync(join(folder, 'summary.md'), summary)
  return { report, failedDiff, summary }
}

/** A diff may be larger than any text can be. */
function readBeginning(file: string, most: number): string {
  const fd = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(Math.min(most, fstatSync(fd).size))
    return bytes.toString('utf8', 0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}

function listOutputs({ result }: Report, files: Files): [name: string, value: string][] {
  return [
    ['outcome', result?.outcome ?? 'failed'],
    ['turn', result?.attempts.at(-1)?.turn ?? ''],
    ['commit', result?.commit ?? ''],
    ['failed-diff', files.failedDiff ?? ''],
    ['report', files.report],
  ]
}

/** In the form that takes any text: between two lines of a mark that nobody can guess. */
function toGitHubOutput([name, value]: [string, string]): string {
  const mark = `end-${randomUUID()}`
  return `${name}<<${mark}\n${value}\n${mark}\n`
}
