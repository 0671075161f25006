import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { runCommandLine } from '#cli/run.ts'
import { CaptureRig, type CommandResult } from './capture-rig.ts'

/** What `run` prints, as far as tests look at it. */
export interface TaskResult {
  readonly task: string
  readonly outcome: string
  readonly attempts: readonly { turn: string; exit: number; verified: boolean; outcome: string }[]
  readonly commit?: string
  readonly failedDiff?: string
  readonly kept: readonly { path: string; reason: string }[]
  readonly notLanded?: readonly { path: string; reason: string }[]
  readonly stillRunning: readonly { pid: number; command: string }[]
  readonly irreversible: readonly string[]
  readonly error?: { code: string; message: string; details?: Record<string, unknown> }
}

/** All that git keeps of a repository, to be compared: nothing of it is a task's to change. */
export interface GitFacts {
  readonly index: string
  readonly refs: string
  readonly head: string
  readonly status: string
}

/** A repository with two commits, and the command line on it. */
export class TaskRig extends CaptureRig {
  constructor(name = 'task') {
    super(name, false)
  }

  git(...args: string[]): string {
    // As a person runs it, but for settings of the machine that the test is on.
    const env = { ...this.env, GIT_CONFIG_NOSYSTEM: '1' }
    return execFileSync('git', args, {
      cwd: this.root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }

  initGit(files: Readonly<Record<string, string>>): void {
    this.git('init', '-q', '-b', 'main')
    this.git('config', 'user.name', 'Ada')
    this.git('config', 'user.email', 'ada@example.com')
    for (const [path, content] of Object.entries(files)) this.write(path, content)
    this.git('add', '-A')
    this.git('commit', '-q', '-m', 'first')
  }

  text(path: string): string {
    return readFileSync(this.at(path), 'utf8')
  }

  remove(path: string): void {
    rmSync(this.at(path))
  }

  /** Runs the command line in this process: the same but for the time that a process of its own takes. */
  async here(args: readonly string[]): Promise<CommandResult> {
    let stdout = ''
    let stderr = ''
    const streams = {
      out(text: string | Uint8Array) {
        stdout += Buffer.from(text).toString('utf8')
      },
      talk(text: string) {
        stderr += text
      },
      readStdin: async () => '',
    }
    const caller = { env: this.env, folder: this.root, pid: process.pid, isPerson: false }
    const code = await runCommandLine(args, caller, streams, this.deps)
    return { code, stdout, stderr, json: stdout.startsWith('{') ? JSON.parse(stdout) : {} }
  }

  /** Runs a task whose command is a shell line. */
  async task(
    id: string,
    line: string,
    ...options: string[]
  ): Promise<CommandResult & { readonly json: TaskResult }> {
    const ran = await this.here(['run', '--task', id, '--json', ...options, '--', 'sh', '-c', line])
    const isResult = (json: object): json is TaskResult => 'outcome' in json || 'error' in json
    const { json } = ran
    if (!isResult(json)) throw new Error(`no result: ${ran.stdout}${ran.stderr}`)
    return { ...ran, json }
  }

  facts(): GitFacts {
    return {
      index: this.git('ls-files', '-s', '-z'),
      refs: this.git('for-each-ref'),
      head: this.git('symbolic-ref', 'HEAD'),
      status: this.git('status', '--porcelain', '-z'),
    }
  }
}
