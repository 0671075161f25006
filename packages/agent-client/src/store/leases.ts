import { DomainError, invariant, limits, type WorkspaceId } from '@turnback/core'
import type { Lease, Leases, Workspace } from '#ports.ts'
import type { Database } from './database.ts'
import { isAlive, isOutOfSight, nameThisProcess, thisSpace, uptimeMs } from './process.ts'
import { integer, type Row, text } from './rows.ts'

const LOOK_AGAIN_MS = 25
const RELEASE_AGAIN_MS = 250
/** So often a holder says that it is there, and so long one that can not be looked for is taken to be. */
const SEEN_EVERY_MS = 30_000
const SEEN_FOR_MS = 600_000
/** A holder that has not said it for this long looks whether it is one still. */
const SURE_FOR_MS = SEEN_FOR_MS / 2

type Holder = { readonly pid: number; readonly purpose: Lease['purpose'] }

/**
 * One row per workspace says who may look at its tree and write into it. Taken in a short transaction; the row of
 * a process that is gone counts for nothing, and that of one in another PID namespace as long as it goes on saying that
 * it is there. Inside one process the row is not enough, so a set says it too. One that could not say it, because it was
 * stopped for long, may have lost its lease meanwhile, and learns it from {@link Lease.check}.
 */
export class RowLeases implements Leases {
  readonly #db: Database
  readonly #listWorkspaces: () => Workspace[]
  readonly #uptimeMs: () => number
  readonly #mine = new Map<WorkspaceId, Lease['purpose']>()
  /** Those of this process that wait for a workspace, to be told when it is free. */
  readonly #waiting = new Map<WorkspaceId, Set<() => void>>()

  constructor(db: Database, listWorkspaces: () => Workspace[], ofUptime: () => number = uptimeMs) {
    this.#db = db
    this.#listWorkspaces = listWorkspaces
    this.#uptimeMs = ofUptime
  }

  async run<T>(
    workspace: Workspace,
    purpose: Lease['purpose'],
    work: (lease: Lease) => Promise<T>,
    waitSeconds: number = limits.busyWaitSeconds,
  ): Promise<T> {
    const owner = this.#outermost(workspace)
    const until = performance.now() + waitSeconds * 1000
    for (;;) {
      const other = this.#take(owner, purpose)
      if (other === null) break
      if (performance.now() >= until) {
        throw new DomainError(other.purpose === 'restore' ? 'RESTORE_RUNNING' : 'STORE_LOCKED', {
          pid: other.pid,
        })
      }
      await this.#waitFor(owner)
    }
    const hold = new Hold(() => this.#saySeen(owner), this.#uptimeMs)
    const timer = setInterval(() => hold.saySeen(), SEEN_EVERY_MS).unref()
    try {
      return await work({ workspace: workspace.id, purpose, check: () => hold.check() })
    } finally {
      clearInterval(timer)
      this.#mine.delete(owner)
      this.#release(owner)
      for (const wake of this.#waiting.get(owner) ?? []) wake()
    }
  }

  isWanted(workspace: Workspace): boolean {
    return (this.#waiting.get(this.#outermost(workspace))?.size ?? 0) > 0
  }

  /** Until somebody of this process is done with it, or it is time to look what others do. */
  async #waitFor(owner: WorkspaceId): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(owner) ?? new Set()
    this.#waiting.set(owner, waiting.add(resolve))
    const timer = setTimeout(resolve, LOOK_AGAIN_MS)
    await promise
    clearTimeout(timer)
    waiting.delete(resolve)
  }

  /** @returns whether it is ours still, and whether that could be said to others */
  #saySeen(owner: WorkspaceId): Said {
    const ours = [owner, process.pid, nameThisProcess().started, thisSpace()]
    const where = 'WHERE workspace = ? AND pid = ? AND started = ? AND space = ?'
    try {
      const rows = this.#db.transactLoosely(() =>
        this.#db.run(`UPDATE leases SET seen_ms = ? ${where}`, this.#uptimeMs(), ...ours),
      )
      return rows === 0 ? 'lost' : 'said'
    } catch (error) {
      // On a full disk, say: it is tried again.
      if (!(error instanceof DomainError)) throw error
      return this.#db.get(`SELECT 1 FROM leases ${where}`, ...ours) === undefined ? 'lost' : 'unsaid'
    }
  }

  /** On a full disk even this fails; what went wrong before is then the news, and the row is removed later. */
  #release(owner: WorkspaceId): void {
    try {
      this.#db.transactLoosely(() =>
        this.#db.run(
          'DELETE FROM leases WHERE workspace = ? AND pid = ? AND space = ?',
          ...[owner, process.pid, thisSpace()],
        ),
      )
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      setTimeout(() => {
        if (this.#db.isOpen && !this.#mine.has(owner)) this.#release(owner)
      }, RELEASE_AGAIN_MS).unref()
    }
  }

  findHolder(workspace: Workspace): Holder | null {
    const owner = this.#outermost(workspace)
    const row = this.#db.get('SELECT * FROM leases WHERE workspace = ?', owner)
    return row === undefined || !this.#counts(owner, row) ? null : toHolder(row)
  }

  /** @returns null when it is ours now, else who has it */
  #take(owner: WorkspaceId, purpose: Lease['purpose']): Holder | null {
    // A reboot ends every holder, so a row need not outlive one.
    return this.#db.transactLoosely(() => {
      const row = this.#db.get('SELECT * FROM leases WHERE workspace = ?', owner)
      if (row !== undefined && this.#counts(owner, row)) return toHolder(row)
      const { pid, started, boot } = nameThisProcess()
      this.#db.run(
        'INSERT OR REPLACE INTO leases(workspace, pid, started, boot, purpose, space, seen_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[owner, pid, started, boot, purpose, thisSpace(), this.#uptimeMs()],
      )
      this.#mine.set(owner, purpose)
      return null
    })
  }

  #counts(owner: WorkspaceId, row: Row): boolean {
    const name = { pid: integer(row, 'pid'), started: text(row, 'started'), boot: text(row, 'boot') }
    if (isOutOfSight(name, text(row, 'space')))
      return Math.abs(this.#uptimeMs() - integer(row, 'seen_ms')) < SEEN_FOR_MS
    return name.pid === process.pid ? this.#mine.has(owner) : isAlive(name)
  }

  /** A nested workspace shares the lease of the outermost one around it. */
  #outermost(workspace: Workspace): WorkspaceId {
    const around = this.#listWorkspaces().filter(
      (other) => workspace.root === other.root || workspace.root.startsWith(`${other.root}/`),
    )
    const first = around.sort((a, b) => a.root.length - b.root.length)[0]
    return first?.id ?? workspace.id
  }
}

type Said = 'said' | 'unsaid' | 'lost'

/** A lease that is held, as far as its holder knows. */
class Hold {
  readonly #say: () => Said
  readonly #uptimeMs: () => number
  #saidMs: number
  #isLost = false

  constructor(say: () => Said, ofUptime: () => number) {
    this.#say = say
    this.#uptimeMs = ofUptime
    this.#saidMs = ofUptime()
  }

  saySeen(): void {
    const nowMs = this.#uptimeMs()
    const said = this.#say()
    if (said === 'said') this.#saidMs = nowMs
    // Lost is lost: who took it may be done by the time of another look, and the tree is not what it was.
    if (said === 'lost') this.#isLost = true
  }

  /** Asked before every file, so it looks only when somebody can have taken it. */
  check(): void {
    if (!this.#isLost && this.#uptimeMs() - this.#saidMs >= SURE_FOR_MS) this.saySeen()
    if (this.#isLost) throw new DomainError('LEASE_LOST')
  }
}

function toHolder(row: Row): Holder {
  const purpose = text(row, 'purpose')
  invariant(purpose === 'capture' || purpose === 'restore', 'a lease has a purpose')
  return { pid: integer(row, 'pid'), purpose }
}
