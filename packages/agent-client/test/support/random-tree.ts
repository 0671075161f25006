import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import fc from 'fast-check'

/** Names as bytes, in latin1: what file systems allow and tools stumble over. */
const NAMES = [
  'a',
  'b',
  'src',
  'x.ts',
  'sub',
  '\xc3\xa9', // é in one code point
  'e\xcc\x81', // é in two
  'new\nline',
  'q"u\'o\\te',
  '[glob]*?',
  '{a,b}',
  ' ',
  '-rf',
  '#not a comment',
  'b64:aGk',
  'f\xff\xfe',
  '\xf0\x9f\x8e\x89 party',
  '.env',
  'server.pem',
  'node_modules',
  'build',
  'dist',
  '.git',
  'L'.repeat(200),
] as const

export type MakeKind = 'file' | 'folder' | 'symlink' | 'fifo' | 'socket' | 'hardlink'

/** One edit. Numbers choose among what is there when it is done, so each edit means something in every tree. */
export type Edit =
  | {
      readonly do: 'make'
      readonly kind: MakeKind
      readonly parent: number
      readonly name: number
      readonly text: number
    }
  | {
      readonly do: 'write' | 'append' | 'truncate' | 'sneak' | 'map' | 'overwrite'
      readonly on: number
      readonly text: number
    }
  | { readonly do: 'rename'; readonly on: number; readonly parent: number; readonly name: number }
  | { readonly do: 'mode'; readonly on: number; readonly mode: number }
  | { readonly do: 'remove' | 'touch'; readonly on: number }
  | {
      readonly do: 'become'
      readonly kind: 'file' | 'folder' | 'symlink'
      readonly on: number
      readonly text: number
    }
  | { readonly do: 'git'; readonly step: number }

const small = fc.nat(1 << 16)
const name = fc.nat(NAMES.length - 1)
const kind = fc.constantFrom<MakeKind>(
  'file',
  'file',
  'file',
  'file',
  'folder',
  'folder',
  'symlink',
  'fifo',
  'socket',
  'hardlink',
)
const make = fc.record({ do: fc.constant('make' as const), kind, parent: small, name, text: small })

/** Edits that make a tree to begin with. */
export const building = fc.array(make, { minLength: 2, maxLength: 11 })

/** Edits by all means there are. */
export const editing = (git: boolean, maxLength: number): fc.Arbitrary<Edit[]> => {
  const change = fc.record({
    do: fc.constantFrom(
      'write' as const,
      'append' as const,
      'truncate' as const,
      'sneak' as const,
      'map' as const,
      'overwrite' as const,
    ),
    on: small,
    text: small,
  })
  const others = [
    fc.record({ do: fc.constant('rename' as const), on: small, parent: small, name }),
    fc.record({ do: fc.constant('mode' as const), on: small, mode: fc.nat(MODES.length - 1) }),
    fc.record({ do: fc.constantFrom('remove' as const, 'touch' as const), on: small }),
    fc.record({
      do: fc.constant('become' as const),
      kind: fc.constantFrom('file' as const, 'folder' as const, 'symlink' as const),
      on: small,
      text: small,
    }),
  ]
  const all = git ? [fc.record({ do: fc.constant('git' as const), step: fc.nat(GIT.length - 1) })] : []
  return fc.array(
    fc.oneof({ weight: 3, arbitrary: change }, { weight: 2, arbitrary: make }, ...others, ...all),
    {
      minLength: 1,
      maxLength,
    },
  )
}

/** The last ones close a file or folder to its owner. */
export const MODES = [0o644, 0o755, 0o600, 0o700, 0o4755, 0o1777, 0o444, 0o000, 0o300, 0o111]
const GIT = [
  ['init', '-q'],
  ['add', '-A'],
  ['commit', '-q', '--allow-empty', '-m', 'state'],
  ['stash', '-u', '-q'],
  ['stash', 'pop', '-q'],
  ['reset', '--hard', '-q'],
  ['clean', '-fdq'],
  ['checkout', '-q', '-b', 'other'],
] as const
const GIT_ENV = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 't',
  GIT_AUTHOR_EMAIL: 't@localhost',
  GIT_COMMITTER_NAME: 't',
  GIT_COMMITTER_EMAIL: 't@localhost',
}

const SLASH = Buffer.from('/')

/**
 * Writes through a memory map, and makes pipes and sockets: Node can not, and one process for all is quicker than one
 * each. Without Python a map is a plain write, and there are no pipes and sockets.
 */
const HELPER = `
import mmap, os, socket, sys
for line in sys.stdin:
    what, path, text = line.split()
    path = bytes.fromhex(path)
    try:
        if what == 'map':
            with open(path, 'r+b') as f, mmap.mmap(f.fileno(), 0) as m:
                data = bytes.fromhex(text)[:len(m)]
                m[:len(data)] = data
        elif what == 'time':
            os.utime(path, ns=(int(text), int(text)))
        elif what == 'fifo':
            os.mkfifo(path, 0o644)
        else:
            socket.socket(socket.AF_UNIX).bind(path)
        print('done', flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
`

/** Makes edits in one tree after the other. Edits that the system refuses are left out: the tree is what it then is. */
export class Editor {
  readonly #helper: ChildProcessWithoutNullStreams | null
  readonly #answers: Interface | null

  constructor() {
    const hasPython = spawnSync('python3', ['-c', 'import mmap']).status === 0
    this.#helper = hasPython ? spawn('python3', ['-c', HELPER]) : null
    this.#answers = this.#helper === null ? null : createInterface(this.#helper.stdout)
  }

  async edit(root: string, edits: readonly Edit[]): Promise<void> {
    for (const each of edits) {
      try {
        await this.#one(root, each)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error) && !isGitRefusal(error)) throw error
      }
    }
  }

  close(): void {
    this.#helper?.stdin.end()
    this.#helper?.kill()
  }

  async #one(root: string, edit: Edit): Promise<void> {
    switch (edit.do) {
      case 'make':
        return await this.#make(root, edit)
      case 'rename': {
        const [from, to] = [
          pick(root, edit.on, 'any'),
          join(pick(root, edit.parent, 'folder') ?? rootOf(root), edit.name),
        ]
        return from === null ? undefined : fs.renameSync(from, to)
      }
      case 'mode': {
        const at = pick(root, edit.on, 'any')
        if (at !== null && !fs.lstatSync(at).isSymbolicLink()) fs.chmodSync(at, MODES[edit.mode] ?? 0o644)
        return
      }
      case 'remove': {
        const at = pick(root, edit.on, 'any')
        return at === null ? undefined : fs.rmSync(at, { recursive: true, force: true })
      }
      case 'touch': {
        const at = pick(root, edit.on, 'file')
        return at === null ? undefined : fs.utimesSync(at, 1_000_000_000, 1_000_000_000)
      }
      case 'become': {
        const at = pick(root, edit.on, 'any')
        if (at === null) return
        fs.rmSync(at, { recursive: true, force: true })
        return await this.#makeAt(root, at, edit.kind, edit.text)
      }
      case 'git':
        execFileSync('git', GIT[edit.step] ?? ['status'], { cwd: root, env: GIT_ENV, stdio: 'ignore' })
        return
      default:
        return await this.#change(root, edit)
    }
  }

  async #make(root: string, edit: Extract<Edit, { do: 'make' }>): Promise<void> {
    const at = join(pick(root, edit.parent, 'folder') ?? rootOf(root), edit.name)
    if (fs.lstatSync(at, { throwIfNoEntry: false }) === undefined)
      await this.#makeAt(root, at, edit.kind, edit.text)
  }

  async #makeAt(root: string, at: Buffer, kind: MakeKind, text: number): Promise<void> {
    switch (kind) {
      case 'file':
        return fs.writeFileSync(at, contentOf(text))
      case 'folder':
        return void fs.mkdirSync(at)
      case 'symlink':
        return fs.symlinkSync(
          Buffer.from(
            text % 3 === 0 ? '../a' : text % 3 === 1 ? (NAMES[text % NAMES.length] ?? 'a') : '/etc',
            'latin1',
          ),
          at,
        )
      case 'fifo':
        return await this.#ask('fifo', at, '00')
      case 'socket':
        return await this.#ask('socket', at, '00')
      case 'hardlink': {
        const from = pick(root, text, 'file')
        return from === null ? undefined : fs.linkSync(from, at)
      }
    }
  }

  async #change(root: string, edit: Extract<Edit, { text: number; on: number }>): Promise<void> {
    const at = pick(root, edit.on, 'file')
    if (at === null) return
    const bytes = contentOf(edit.text)
    const before = fs.lstatSync(at, { bigint: true })
    const same = Buffer.alloc(Number(before.size), bytes.length === 0 ? 'z' : bytes)
    switch (edit.do) {
      case 'write':
        return fs.writeFileSync(at, bytes)
      case 'append':
        return fs.appendFileSync(at, bytes)
      case 'truncate':
        return fs.truncateSync(at, edit.text % (Number(before.size) + 1))
      case 'overwrite':
        return overwrite(at, same)
      case 'sneak': {
        // Other bytes, and size and modification time as they were.
        overwrite(at, same)
        return await this.#setTime(at, before.mtimeNs)
      }
      case 'map':
        if (this.#helper === null) return overwrite(at, same)
        return before.size === 0n ? undefined : await this.#ask('map', at, same.toString('hex'))
    }
  }

  /** Node can set no time finer than it can write as a number of seconds. */
  async #setTime(at: Buffer, mtimeNs: bigint): Promise<void> {
    if (this.#helper !== null) return await this.#ask('time', at, String(mtimeNs))
    const seconds = Number(mtimeNs / 1000n) / 1e6
    fs.utimesSync(at, seconds, seconds)
  }

  async #ask(what: 'map' | 'time' | 'fifo' | 'socket', at: Buffer, text: string): Promise<void> {
    if (this.#helper === null || this.#answers === null) return
    const answer = new Promise((done) => this.#answers?.once('line', done))
    this.#helper.stdin.write(`${what} ${at.toString('hex')} ${text === '' ? '00' : text}\n`)
    await answer
  }
}

function overwrite(at: Buffer, bytes: Buffer): void {
  const fd = fs.openSync(at, 'r+')
  try {
    fs.writeSync(fd, bytes, 0, bytes.length, 0)
  } finally {
    fs.closeSync(fd)
  }
}

function isGitRefusal(error: unknown): boolean {
  return error instanceof Error && 'status' in error
}

function rootOf(root: string): Buffer {
  return Buffer.from(root)
}

function join(folder: Buffer, name: number): Buffer {
  return Buffer.concat([folder, SLASH, Buffer.from(NAMES[name] ?? 'a', 'latin1')])
}

/** Short ones that come again, and some that are longer than one read. */
function contentOf(text: number): Buffer {
  if (text % 7 === 0) return Buffer.alloc(0)
  if (text % 61 === 0) return Buffer.alloc(70_000 + text, `${text}\n`)
  return Buffer.from(`text ${text % 500}\n`.repeat(1 + (text % 5)))
}

/** The n-th of what is there, without what is git's own; null when there is nothing such. */
function pick(root: string, n: number, what: 'any' | 'file' | 'folder'): Buffer | null {
  const found: Buffer[] = what === 'folder' ? [rootOf(root)] : []
  const walk = (folder: Buffer): void => {
    let names: Buffer[]
    try {
      names = fs.readdirSync(folder, { encoding: 'buffer' })
    } catch {
      // Closed by an earlier edit.
      return
    }
    for (const name of names.sort(Buffer.compare)) {
      if (name.toString() === '.git') continue
      const at = Buffer.concat([folder, SLASH, name])
      const stat = fs.lstatSync(at, { throwIfNoEntry: false })
      if (stat === undefined) continue
      if (what === 'any' || (what === 'file' ? stat.isFile() : stat.isDirectory())) found.push(at)
      if (stat.isDirectory()) walk(at)
    }
  }
  walk(rootOf(root))
  return found[n % Math.max(found.length, 1)] ?? null
}
