import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, run, type Sample, type Size, sizeOf, waitUntilIdle } from './measure.ts'

/** How a client's hooks are served. */
export type Manner = 'resident' | 'stat-scan' | 'alone'

/** The client under test: a home of its own, driven through the launcher as an agent's hook would. */
export class Client {
  readonly manner: Manner
  readonly #launcher: string
  readonly #env: Record<string, string>
  readonly #home: string
  #residentPid: number | null = null
  #turns = 0

  constructor(parts: { manner: Manner; checkout: string; home: string }) {
    this.manner = parts.manner
    this.#launcher = join(parts.checkout, 'bin/turnback')
    this.#home = join(parts.home, 'turnback')
    mkdirSync(this.#home, { recursive: true })
    this.#env = {
      PATH: process.env.PATH ?? '',
      HOME: parts.home,
      TURNBACK_HOME: this.#home,
      NO_COLOR: '1',
    }
    if (parts.manner === 'stat-scan') writeFileSync(join(this.#home, 'config.json'), '{"watch":"off"}')
  }

  command(cwd: string, ...args: string[]): Command {
    return { argv: [this.#launcher, ...args], cwd, env: this.#env }
  }

  run(cwd: string, ...args: string[]): Sample {
    return run(this.command(cwd, ...args))
  }

  /** Begins a turn as a hook does: a process of its own, its answer read. */
  begin(cwd: string): Sample {
    this.#turns++
    return this.run(cwd, 'begin', '--json', '--session', 'bench', '--turn', `k${this.#turns}`)
  }

  end(cwd: string): Sample {
    return this.run(cwd, 'end', '--json', '--session', 'bench', '--turn', `k${this.#turns}`)
  }

  /**
   * Captures the tree for the first time, starts the resident when there is to be one, and looks whether it does the
   * work of the hooks. @returns why this manner can not be measured, or null
   */
  async prepare(cwd: string): Promise<string | null> {
    this.begin(cwd)
    this.end(cwd)
    if (this.manner === 'alone') return null
    const connected: unknown = JSON.parse(this.run(cwd, 'connect', '--json').stdout)
    const pid: unknown = connected === null ? null : Reflect.get(Object(connected), 'pid')
    if (typeof pid !== 'number') throw new Error('`turnback connect` names no process')
    this.#residentPid = pid
    // The first one makes it known to the resident, which then may begin to watch.
    this.begin(cwd)
    this.end(cwd)
    await this.rest()
    return this.#startsNode(cwd) ? 'the resident client does not serve hooks yet' : null
  }

  /** What the contract says of hooks while the resident runs is that they start no Node: then this leaves no mark. */
  #startsNode(cwd: string): boolean {
    const mark = join(this.#home, 'bench-mark')
    const preload = join(this.#home, 'bench-mark.cjs')
    writeFileSync(preload, `require('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`)
    const plain = this.command(cwd, 'begin', '--json', '--session', 'bench', '--turn', 'mark')
    run({ ...plain, env: { ...plain.env, NODE_OPTIONS: `--require ${preload}` } })
    this.run(cwd, 'end', '--json', '--session', 'bench', '--turn', 'mark')
    const started = existsSync(mark)
    rmSync(mark, { force: true })
    return started
  }

  /** Waits until the resident has done what it does after a turn. */
  async rest(): Promise<void> {
    if (this.#residentPid !== null) await waitUntilIdle(this.#residentPid)
  }

  packs(): Size {
    return sizeOf(join(this.#home, 'store'), (path) => path.includes('/packs/'))
  }

  /** Log and index: the database with its journal. Moved into the main file first, so that it is counted once. */
  logAndIndex(): Size {
    return sizeOf(join(this.#home, 'store'), (path) => /turnback\.db(-wal)?$/.test(path))
  }

  close(cwd: string): void {
    if (this.#residentPid === null) return
    this.run(cwd, 'disconnect', '--json')
    this.#residentPid = null
  }
}
