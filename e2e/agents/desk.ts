/*
 * A developer's machine with one agent and Turnback on it: a home of its own, a project with everything that is easily
 * lost, and the command line as the checkout has it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { snapshotTree, type TreeSnapshot } from '@turnback/agent-client/testing'
import { commandOf, fetchProgram } from './fetch-program.ts'
import type { Kit } from './kits/kit.ts'
import { endLeftovers } from './leftovers.ts'
import { type Model, type Step, startModel } from './models/model-server.ts'

const checkout = resolve(import.meta.dirname, '../..')
const AGENT_TIMEOUT_MS = 180_000
const COMMAND_TIMEOUT_MS = 60_000

/** An agent at work. */
export interface Run {
  kill(signal: NodeJS.Signals): void
  readonly model: Model
  readonly ended: Promise<Ended>
}

export interface StartOptions {
  /** With the session it had last, not a new one. */
  readonly goesOn?: boolean
  /** Further arguments. */
  readonly more?: readonly string[] | undefined
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly said: string
  readonly ms: number
}

export class Desk {
  readonly kit: Kit
  readonly top = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-agent-')))
  readonly home = join(this.top, 'home')
  readonly tree = join(this.top, 'project')
  readonly store = join(this.top, 'turnback')
  /** For what tools tell the test, outside the project. */
  readonly signs = join(this.top, 'signs')
  readonly program = join(checkout, 'bin/turnback')
  readonly #models: Model[] = []

  constructor(kit: Kit) {
    this.kit = kit
    for (const folder of [this.home, this.tree, this.signs, join(this.top, 'tmp')]) mkdirSync(folder)
    layOutProject(this.tree, this.env)
    kit.prepare(this)
  }

  /** All that a program gets to know of the machine it runs on. */
  get env(): Record<string, string> {
    return {
      PATH: [dirname(process.execPath), '/usr/bin', '/bin', dirname(commandOf(this.kit.agent))].join(':'),
      HOME: this.home,
      TMPDIR: join(this.top, 'tmp'),
      TURNBACK_HOME: this.store,
      NO_COLOR: '1',
      TERM: 'dumb',
      GIT_CONFIG_NOSYSTEM: '1',
    }
  }

  /** Runs the command line in the project and gives its JSON. @throws when it exits with anything but 0 */
  turnback(...args: string[]): unknown {
    const done = spawnSync(this.program, [...args, '--json'], {
      cwd: this.tree,
      env: this.env,
      encoding: 'utf8',
      timeout: COMMAND_TIMEOUT_MS,
    })
    if (done.status !== 0)
      throw new Error(`turnback ${args.join(' ')}: exit ${done.status}\n${done.stdout}${done.stderr}`)
    return JSON.parse(done.stdout)
  }

  /** @returns the files with the agent's settings */
  install(): string[] {
    const { files } = this.turnback('install', this.kit.agent, ...(this.kit.installOptions ?? [])) as {
      files: string[]
    }
    return files
  }

  async start(prompt: string, script: readonly Step[], how: StartOptions = {}): Promise<Run> {
    const command = await fetchProgram(this.kit.agent, console.log)
    const model = await startModel(this.kit.protocol, script)
    this.#models.push(model)
    const { args, env } = this.kit.start(prompt, { modelUrl: model.url, goesOn: how.goesOn ?? false })
    const since = performance.now()
    const child = spawn(command, [...args, ...(how.more ?? [])], {
      cwd: this.tree,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that a signal to all of it reaches nobody else.
      detached: true,
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    const timer = setTimeout(() => child.kill('SIGKILL'), AGENT_TIMEOUT_MS)
    // Not 'close': what a killed agent leaves behind holds the pipes.
    const ended = once(child, 'exit').then(([code, signal]) => {
      clearTimeout(timer)
      return { code, signal, said, ms: performance.now() - since }
    })
    const pid = child.pid ?? 0
    const kill = (signal: NodeJS.Signals) => process.kill(this.kit.restartsItself ? -pid : pid, signal)
    return { kill, model, ended }
  }

  snapshot(): TreeSnapshot {
    return snapshotTree(this.tree)
  }

  /** Makes the store's log no database any more. */
  breakStore(): void {
    const file = join(this.store, 'store/turnback.db')
    writeFileSync(file, 'this is no database '.repeat(5_000))
    for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true })
  }

  async dispose(): Promise<void> {
    await endLeftovers(this.home)
    for (const model of this.#models) await model.close()
    rmSync(this.top, { recursive: true, force: true })
  }
}

function layOutProject(tree: string, env: Record<string, string>): void {
  const git = (...args: string[]) => {
    const { status, stderr } = spawnSync('git', args, { cwd: tree, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  }
  git('init', '-q', '-b', 'main')
  mkdirSync(join(tree, 'src'))
  writeFileSync(join(tree, '.gitignore'), '.env\n*.db\n')
  writeFileSync(join(tree, 'src/greeting.txt'), 'good morning\ngood night\n')
  writeFileSync(join(tree, 'src/old.txt'), 'to be removed\n')
  writeFileSync(join(tree, 'logo.bin'), Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 31) % 256)))
  git('add', '.')
  git('-c', 'user.name=A Person', '-c', 'user.email=person@example.invalid', 'commit', '-q', '-m', 'first')
  writeFileSync(join(tree, 'notes.md'), 'not in git\n')
  writeFileSync(join(tree, '.env'), 'TOKEN=before\n', { mode: 0o600 })
  const database = new DatabaseSync(join(tree, 'app.db'))
  database.exec("CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('before')")
  database.close()
}
