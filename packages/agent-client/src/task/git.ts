import { spawn } from 'node:child_process'
import { DomainError, type ErrorCode } from '@turnback/core'

export interface GitRun {
  readonly status: number
  readonly stdout: Buffer
  /** What it said for people, as far as that is not too much. */
  readonly words: string
}

interface RunOptions {
  readonly input?: Uint8Array
  /** Another index than the repository's own. */
  readonly indexFile?: string
}

/** Of variables for git, only those that say who commits and how: the others would send it to another repository. */
const KEPT = /^GIT_(?:AUTHOR_|COMMITTER_|CONFIG_|SSH|ASKPASS$|TERMINAL_PROMPT$)/
const WORDS_CHARACTERS = 8000

/** Git in one repository. Paths go in and out as bytes that end with a NUL; no command is used that would take one for a pattern. */
export class Git {
  /** Absolute: where its top is. */
  readonly folder: string
  /** Stands for no object in this repository. */
  readonly noId: string
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(folder: string, env: Readonly<Record<string, string | undefined>>, idDigits = 40) {
    this.folder = folder
    this.noId = '0'.repeat(idDigits)
    this.#env = Object.fromEntries(
      Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name)),
    )
  }

  /** Whatever its exit status is. @throws the given code when there is no git */
  run(args: readonly string[], { input, indexFile }: RunOptions = {}): Promise<GitRun> {
    const { promise, resolve, reject } = Promise.withResolvers<GitRun>()
    const child = spawn('git', [...args], {
      cwd: this.folder,
      env: { ...this.#env, ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }) },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const out: Buffer[] = []
    let words = ''
    child.stdout.on('data', (piece: Buffer) => out.push(piece))
    child.stderr.on('data', (piece: Buffer) => {
      words = (words + piece.toString('utf8')).slice(-WORDS_CHARACTERS)
    })
    // It may end without reading all of it; its exit status tells why.
    child.stdin.on('error', () => {})
    child.stdin.end(input ?? '')
    child.on('error', (cause) =>
      reject(new DomainError('TASK_REFUSED', {}, { message: 'The program git can not be started.', cause })),
    )
    child.on('close', (code) =>
      resolve({ status: code ?? -1, stdout: Buffer.concat(out), words: words.trim() }),
    )
    return promise
  }

  /** What it prints. @throws `code`, with git's own words, when it fails */
  async get(code: ErrorCode, args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
    const { status, stdout, words } = await this.run(args, options)
    if (status !== 0) throw new DomainError(code, { git: args[0] ?? '', said: words })
    return stdout
  }

  /** One line. */
  async getLine(code: ErrorCode, args: readonly string[]): Promise<string> {
    return (await this.get(code, args)).toString('utf8').trimEnd()
  }

  /** The commit that a name means, or null. */
  async findCommit(name: string): Promise<string | null> {
    const { status, stdout } = await this.run(['rev-parse', '--verify', '--quiet', `${name}^{commit}`])
    return status === 0 ? stdout.toString('latin1').trim() : null
  }
}

/** Items that each end with a NUL. Bytes are kept, one character each. */
export function splitNul(bytes: Buffer): string[] {
  const items = bytes.toString('latin1').split('\0')
  items.pop()
  return items
}

export function joinNul(items: readonly string[]): Buffer {
  return Buffer.from(items.map((item) => `${item}\0`).join(''), 'latin1')
}
