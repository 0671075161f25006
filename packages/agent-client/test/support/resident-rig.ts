import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive } from '#store/process.ts'

const ROOT = new URL('../../../../', import.meta.url).pathname

export interface Answer {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
  readonly ms: number
}

export interface RunOptions {
  readonly cwd?: string
  readonly input?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  /** The shell and its arguments; else what the file says itself. */
  readonly shell?: readonly string[]
  /** Called with the process, once it runs. */
  readonly started?: (pid: number) => void
  /** Leaves standard input open after what is written into it. */
  readonly isOpen?: boolean
}

/**
 * The command line as it is installed, without sources beside it, with a home of its own. Each start of Node by the
 * launcher is counted.
 */
export class ResidentRig {
  readonly top = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-resident-')))
  readonly bin = join(this.top, 'checkout/bin/turnback')
  readonly dist = join(this.top, 'checkout/packages/agent-client/dist')
  readonly home = join(this.top, 'home')
  readonly tree = join(this.top, 'tree')
  readonly #sleepers: ChildProcess[] = []
  readonly #starts = join(this.top, 'starts.log')

  constructor() {
    const node = join(this.top, 'checkout/node_modules/node24/bin')
    for (const folder of [node, join(this.top, 'checkout/bin'), this.tree, join(this.top, 'user')])
      mkdirSync(folder, { recursive: true })
    copyFileSync(join(ROOT, 'bin/turnback'), this.bin)
    const count = `for word; do case $word in *.js) script=\${word##*/} ;; -*) ;; *) break ;; esac; done
printf '%s %s\\n' "$script" "$word" >>'${this.#starts}'`
    writeFileSync(join(node, 'node'), `#!/bin/sh\n${count}\nexec '${process.execPath}' "$@"\n`)
    chmodSync(join(node, 'node'), 0o755)
    writeFileSync(this.#starts, '')
    const build = [join(ROOT, 'scripts/build-client.ts'), '--into', this.dist]
    const { status, stderr } = spawnSync(process.execPath, build, { encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
  }

  /** Another home and another tree; the same program. */
  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      HOME: join(this.top, 'user'),
      TURNBACK_HOME: this.home,
      NO_COLOR: '1',
    }
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Answer> {
    const [program = this.bin, ...before] = options.shell ?? []
    const began = performance.now()
    const words = options.shell === undefined ? [...args] : [...before, this.bin, ...args]
    const child = spawn(program, words, {
      cwd: options.cwd ?? this.tree,
      env: { ...this.env, ...options.env },
      detached: true,
    })
    options.started?.(child.pid ?? 0)
    const out: Buffer[] = []
    let stderr = ''
    child.stdout.on('data', (piece: Buffer) => out.push(piece))
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      stderr += piece
    })
    child.stdin.on('error', () => undefined)
    if (options.isOpen === true) child.stdin.write(options.input ?? '')
    else child.stdin.end(options.input ?? '')
    const { promise, resolve } = Promise.withResolvers<Answer>()
    child.on('exit', () => child.stdin.destroy())
    child.on('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out), stderr, ms: performance.now() - began }),
    )
    return promise
  }

  async json(args: readonly string[], options: RunOptions = {}): Promise<Record<string, unknown>> {
    const { stdout, stderr } = await this.run([...args, '--json'], options)
    if (!stdout.toString().startsWith('{')) throw new Error(`${stdout}${stderr}`)
    return JSON.parse(stdout.toString())
  }

  /** Beginnings of command lines that the launcher started Node for, since the last call. */
  starts(): string[] {
    const lines = readFileSync(this.#starts, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    writeFileSync(this.#starts, '')
    return lines
  }

  get socket(): string {
    return join(this.home, 'socket')
  }

  /** Number of the resident's process, by what callers read. */
  get pid(): number {
    return Number(readFileSync(join(this.socket, 'resident'), 'utf8').split(' ')[0])
  }

  /** Where callers meet the resident that serves now. */
  get place(): string {
    const name = readFileSync(join(this.socket, 'resident'), 'utf8').trim().split(' ')[3] ?? ''
    return join(this.socket, name)
  }

  listPlace(): string[] {
    return readdirSync(this.place)
  }

  async connect(): Promise<void> {
    const { code, stderr } = await this.run(['connect'])
    if (code !== 0) throw new Error(stderr)
    this.starts()
  }

  /**
   * Stops the resident so that callers do not see it: a process that lives and answers nobody is taken for it; its folder
   * stays as it is. `die` ends that process.
   */
  pretend(): { readonly pid: number; readonly place: string; die(): void } {
    const { pid, place } = this
    process.kill(pid, 'SIGSTOP')
    const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' })
    const stat = readFileSync(`/proc/${sleeper.pid}/stat`, 'latin1')
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const [, , ...rest] = readFileSync(join(this.socket, 'resident'), 'utf8').trim().split(' ')
    writeFileSync(join(this.socket, 'resident'), `${sleeper.pid} ${started} ${rest.join(' ')}\n`)
    this.#sleepers.push(sleeper)
    return { pid, place, die: () => sleeper.kill('SIGKILL') }
  }

  /** Ends the resident, however it is doing, and who was taken for it. */
  async kill(): Promise<void> {
    for (const sleeper of this.#sleepers.splice(0)) sleeper.kill('SIGKILL')
    const file = join(this.home, 'store/resident.json')
    if (!existsSync(file)) return
    const { process: resident } = JSON.parse(readFileSync(file, 'utf8'))
    if (isAlive(resident)) process.kill(resident.pid, 'SIGKILL')
    await until(() => !isAlive(resident), 'it is gone')
  }

  async dispose(): Promise<void> {
    await this.kill()
    rmSync(this.top, { recursive: true, force: true })
  }
}

/** Waits for a condition, looking often; fails after a time that is long for any machine. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const end = performance.now() + 20_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`in vain: ${what}`)
    await new Promise((go) => setTimeout(go, 5))
  }
}
