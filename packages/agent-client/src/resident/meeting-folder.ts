import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DomainError } from '@turnback/core'
import { nameThisProcess, type ProcessName } from '#store/process.ts'

/** Reply pipes that are kept ready, and after how many requests they are filled up. */
const POOL = { pipes: 64, takenBeforeRefill: 24 }
/** What a caller left behind is removed after this. */
const STALE_MS = 3_600_000
/** How long what is piped into a hook is waited for. */
const READ_MS = 4_000

/** One request that was taken: its own files, and the open end of the pipe that its caller reads. */
export interface TakenRequest {
  readonly bytes: Buffer
  /** Null when the caller is gone. */
  readonly reply: number | null
  /** Path without its ending: what else belongs to this request lies beside it. */
  readonly base: string
}

/**
 * The folder in which `bin/turnback` and the resident client meet. A POSIX shell can open no socket, so it is named
 * pipes (docs/decisions/0011):
 *
 *     resident              `PID START VERSION PLACE TICKER START`: who serves, since when, in which folder beside this
 *                           file, and which process tells those who wait the time; `-` for none
 *     PLACE/bell            pipe: the number of a request that is ready, a line each
 *     PLACE/N.reply         pipe for one answer; made in advance, because making one costs the caller a process
 *     PLACE/N.claim         made by the caller; that it could be made is what gives it the number N
 *     PLACE/N.request       what is to be done
 *     PLACE/N.stdin         what was piped in, for the few commands that read it
 *     PLACE/N.reader        of a hook: number of the process that puts it there, which is ended when it takes too long
 *     PLACE/N.taken         the same, once the resident has it: the rename is what decides who carries it out
 *     PLACE/N.void          the same, when the caller has waited long enough: it is not to be carried out any more
 *     PLACE/slow            made by a caller that waited in vain; until it is gone the others do not even ask
 *
 * Each resident has a PLACE of its own, so that nothing is ever rung into the past or the future.
 */
export class MeetingFolder {
  readonly #folder: string
  readonly #onTrouble: (error: unknown) => void
  readonly place: string
  #made = 0
  #taken = 0
  #refilling: Promise<void> | null = null

  /** Makes the folder, for its owner alone. @throws SOCKET_UNSAFE for one that others can write or own */
  constructor(folder: string, onTrouble: (error: unknown) => void) {
    this.#folder = folder
    this.#onTrouble = onTrouble
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    assertPrivate(folder)
    this.place = join(folder, `p${process.pid}-${randomBytes(6).toString('hex')}`)
    mkdirSync(this.place, { mode: 0o700 })
  }

  get bell(): string {
    return join(this.place, 'bell')
  }

  /** Makes the pipes. Callers find them once {@link announce} has said where. */
  async prepare(): Promise<void> {
    await makePipes([this.bell])
    await this.refill()
  }

  announce(version: string, ticker: ProcessName | null): void {
    const words = [
      ...wordsOf(nameThisProcess()),
      version,
      this.place.slice(this.#folder.length + 1),
      ...wordsOf(ticker),
    ]
    const temporary = join(this.place, 'resident.tmp')
    writeFileSync(temporary, `${words.join(' ')}\n`, { mode: 0o600 })
    renameSync(temporary, join(this.#folder, 'resident'))
  }

  /** From now on nobody new comes. */
  withdraw(): void {
    rmSync(join(this.#folder, 'resident'), { force: true })
  }

  /** Takes a request, so that its caller can no longer withdraw it; null when it was withdrawn. */
  take(id: string): TakenRequest | null {
    const base = join(this.place, id)
    const reply = openForWriting(`${base}.reply`)
    if (++this.#taken % POOL.takenBeforeRefill === 0) this.refill().catch(this.#onTrouble)
    try {
      renameSync(`${base}.request`, `${base}.taken`)
      return { bytes: readFileSync(`${base}.taken`), reply, base }
    } catch (error) {
      if (reply !== null) closeSync(reply)
      this.forget(base, false)
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
      throw error
    }
  }

  /** Removes what belongs to a request that is over; what was piped in stays for a caller that does it itself. */
  forget(base: string, isDone: boolean): void {
    // The pipe's name goes first: who can make the claim again finds that there is no pipe, and takes another number.
    for (const end of ['reply', 'claim', 'taken', 'void', 'reader']) remove(`${base}.${end}`)
    if (isDone) remove(`${base}.stdin`)
  }

  /** False once the caller has given up on it, by another rename: then it is done in another way, and not here. */
  isWaitedFor({ base }: TakenRequest): boolean {
    return existsSync(`${base}.taken`)
  }

  /** Whether only its owner can have written here. */
  isPrivate(): boolean {
    return isPrivate(this.#folder) && isPrivate(this.place)
  }

  /** Somebody waited in vain, and now it goes on. */
  markAsQuick(): void {
    rmSync(join(this.place, 'slow'), { force: true })
  }

  /** Agents that do not close their end are not listened to for ever. */
  endLongReaders(nowMs: number): void {
    for (const name of readdirSync(this.place)) {
      if (!name.endsWith('.reader')) continue
      const base = join(this.place, name.slice(0, -'.reader'.length))
      const stat = lstatSync(join(this.place, name), { throwIfNoEntry: false })
      if (stat === undefined || nowMs - stat.mtimeMs < READ_MS) continue
      if (!endReader(join(this.place, name), `${base}.stdin`)) remove(join(this.place, name))
    }
  }

  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = null
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const names = new Set(readdirSync(this.place))
    this.#removeStale(names)
    const free = [...names].filter(
      (name) => isOfPool(name) && !names.has(claimOf(name)) && this.#isPipe(name),
    )
    const missing = Math.max(POOL.pipes - free.length, 0)
    await makePipes(Array.from({ length: missing }, () => join(this.place, `${++this.#made}.reply`)))
  }

  /** Who rings while a name goes away leaves a plain file under it, which nobody can wait at. */
  #isPipe(name: string): boolean {
    const path = join(this.place, name)
    if (lstatSync(path, { throwIfNoEntry: false })?.isFIFO() === true) return true
    remove(path)
    return false
  }

  #removeStale(names: Set<string>): void {
    for (const name of names) {
      if (!/\.(?:claim|request|withdrawn|taken|void|stdin|reader|out)$/.test(name)) continue
      const stat = lstatSync(join(this.place, name), { throwIfNoEntry: false })
      if (stat === undefined || Date.now() - stat.mtimeMs < STALE_MS) continue
      const ofSame = [name, name.replace(/\.\w+$/, '.reply')]
      for (const each of ofSame) {
        rmSync(join(this.place, each), { force: true })
        names.delete(each)
      }
    }
  }

  /** Removes what residents before this one left behind. Their last callers may still be looking at it for a moment. */
  removeOldPlaces(): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      if (path !== this.place && name !== 'resident') rmSync(path, { recursive: true, force: true })
    }
  }
}

/** Callers that found none free make one themselves, under a name with a letter. */
function isOfPool(name: string): boolean {
  return /^\d+\.reply$/.test(name)
}

function claimOf(name: string): string {
  return name.replace(/reply$/, 'claim')
}

async function makePipes(paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await promisify(execFile)('mkfifo', ['-m', '600', ...paths])
}

/** `unlink` alone, whose fault is a word of the system: `rm` looks at the file three times. */
function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

/** @returns false when nobody reads any more */
function endReader(file: string, input: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'latin1'))
    // The number may be another's by now; whoever writes into this very file is meant.
    return findLink(`/proc/${pid}/fd/1`) === input && process.kill(pid, 'SIGTERM')
  } catch (error) {
    // It has ended meanwhile, or its caller has and took the file away.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return false
    throw error
  }
}

function findLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // It has ended.
    return null
  }
}

function wordsOf(name: ProcessName | null): [string, string] {
  return name === null ? ['-', '-'] : [String(name.pid), name.started === '' ? '-' : name.started]
}

/** Null when nobody reads there. */
function openForWriting(pipe: string): number | null {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    return null
  }
}

const OTHERS = 0o077

function isPrivate(folder: string): boolean {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & OTHERS) === 0
}

function assertPrivate(folder: string): void {
  if (!isPrivate(folder)) throw new DomainError('SOCKET_UNSAFE', { folder })
}
