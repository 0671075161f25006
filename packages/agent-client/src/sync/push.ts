import { DomainError, type TurnId, type WorkspaceId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { z } from 'zod'
import type { Clock, Log, OutboxItem, Workspace } from '#ports.ts'
import { sendHead } from './push-heads.ts'
import { sendReport } from './push-reports.ts'
import { asDomainError, judgeTrouble, stopsEverything } from './push-trouble.ts'
import { callOptions, type PushParts, sendStub, sendTurn } from './push-turn.ts'

/** What one run of sending came to. Local facts only: nothing counts as sent that the service did not confirm. */
export interface PushResult {
  readonly pushed: number
  readonly reports: number
  /** Turns that this run set aside, with the reason. */
  readonly setAside: readonly SetAside[]
  readonly unpushed: number
  /** What kept the rest from being sent, or null when nothing did. */
  readonly error: DomainError | null
}

export interface SetAside {
  readonly turn: TurnId
  readonly code: string
  readonly message: string
}

export interface PusherParts extends Omit<PushParts, 'signal'> {
  readonly clock: Clock
  /** One line for the log file; no secrets. */
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
}

/** Fact: what kept the last run from sending everything. */
const LAST_ERROR_KEY = 'sync.lastError'
const lastErrorSchema = z.object({ code: z.string(), message: z.string(), at: z.string() })
export type LastError = z.infer<typeof lastErrorSchema>

/** What kept the last run from sending everything, and since when; null when nothing did. */
export function findLastError(log: Log): LastError | null {
  const fact = log.findFact(LAST_ERROR_KEY)
  return fact === null ? null : lastErrorSchema.parse(JSON.parse(fact))
}

const ITEMS_AT_ONCE = 200
/** A turn at which the service failed this often is set aside, so that it cannot stop all that follow. */
const FAILURES_BEFORE_SET_ASIDE = 4

interface Tally {
  pushed: number
  reports: number
  setAside: SetAside[]
}

/** Sends what waits, oldest first, workspace by workspace. Lives as long as its process, to ask nothing twice. */
export class Pusher {
  readonly #parts: PusherParts
  readonly #known = new Set<WorkspaceId>()
  #offeredAgain = false

  constructor(parts: PusherParts) {
    this.#parts = parts
  }

  /** Never throws for what the service or the network does: that stands in the result. */
  async run(signal?: AbortSignal): Promise<PushResult> {
    const { log, note } = this.#parts
    const tally: Tally = { pushed: 0, reports: 0, setAside: [] }
    const error = await this.#pushAll(tally, signal)
    if (error !== null) note('push-stopped', { code: error.code, message: error.message })
    if (signal?.aborted !== true) this.#keepError(error)
    return { ...tally, unpushed: log.countOutbox().unpushed, error }
  }

  /** Written only when it is another one: whoever watches the store would take it for news. */
  #keepError(error: DomainError | null): void {
    const { log } = this.#parts
    const before = findLastError(log)
    if (before?.code === error?.code && before?.message === error?.message) return
    const fact =
      error === null ? null : JSON.stringify({ code: error.code, message: error.message, at: this.#now() })
    log.putFact(LAST_ERROR_KEY, fact)
  }

  async #pushAll(tally: Tally, signal?: AbortSignal): Promise<DomainError | null> {
    let first = await this.#pushHeads(signal)
    if (first?.code === 'WORKSPACE_NOT_FOUND' && this.#offerAgain(first)) return this.#pushAll(tally, signal)
    if (first !== null && stopsEverything(first)) return first
    for (const workspace of this.#parts.log.listWorkspaces()) {
      const error = await guarded(() => this.#pushWorkspace(workspace, tally, signal))
      if (error === null) continue
      if (this.#offerAgain(error)) return this.#pushAll(tally, signal)
      if (stopsEverything(error)) return error
      first ??= error
    }
    const error = await this.#pushReports(tally, signal)
    return first ?? error
  }

  /** Before any turn: the sooner they are known, the less can be altered unseen. */
  async #pushHeads(signal?: AbortSignal): Promise<DomainError | null> {
    let first: DomainError | null = null
    for (const head of this.#parts.log.listHeadsToPush()) {
      const error = await guarded(async () => {
        stopWhenAborted(signal)
        const workspace = this.#parts.log.findWorkspace(head.workspace)
        if (workspace === null) return this.#parts.log.deleteHeadToPush(head)
        await this.#makeKnown(workspace, signal)
        await sendHead(this.#parts, head, signal)
      })
      if (error !== null && stopsEverything(error)) return error
      first ??= error
    }
    return first
  }

  async #pushWorkspace(workspace: Workspace, tally: Tally, signal?: AbortSignal): Promise<void> {
    for (;;) {
      const items = this.#parts.log.listOutbox(workspace.id, ITEMS_AT_ONCE)
      if (items.length === 0) return
      await this.#makeKnown(workspace, signal)
      for (const item of items) {
        stopWhenAborted(signal)
        await this.#pushItem({ ...this.#parts, signal }, item, tally)
      }
    }
  }

  async #makeKnown(workspace: Workspace, signal?: AbortSignal): Promise<void> {
    if (this.#known.has(workspace.id)) return
    const body = { root: workspace.root, name: workspace.name.slice(0, 100), project: workspace.project }
    const input = { params: { workspace: workspace.id }, body }
    await this.#parts.caller.call(routes.putWorkspace, input, callOptions(signal))
    this.#known.add(workspace.id)
  }

  async #pushItem(push: PushParts, item: OutboxItem, tally: Tally): Promise<void> {
    const { log, note } = this.#parts
    if (item.parked === null) {
      const fault = await this.#trySending(push, item)
      if (fault === null) {
        log.transact(() => {
          log.markPushed(item.turn, this.#now())
          log.putFact(failureKey(item.turn), null)
        })
        note('pushed', { turn: item.turn, seq: item.seq })
        tally.pushed++
        return
      }
      const facts = { turn: item.turn, code: fault.code, message: fault.message }
      log.setAside(item.turn, `${fault.code}: ${fault.message}`)
      note('set-aside', { ...facts, seq: item.seq })
      tally.setAside.push(facts)
    }
    await sendStubUnlessKnown(push, item)
    log.markPushed(item.turn, this.#now())
  }

  /** Null when it was sent; the error when the turn is to be set aside. @throws when it is to be tried later */
  async #trySending(push: PushParts, item: OutboxItem): Promise<DomainError | null> {
    try {
      await sendTurn(push, item)
      return null
    } catch (thrown) {
      const error = asDomainError(thrown)
      const trouble = judgeTrouble(error)
      if (trouble === 'set-aside') return error
      if (trouble === 'count' && this.#countFailure(item.turn) >= FAILURES_BEFORE_SET_ASIDE) return error
      throw error
    }
  }

  #countFailure(turn: TurnId): number {
    const count = Number(this.#parts.log.findFact(failureKey(turn)) ?? '0') + 1
    this.#parts.log.putFact(failureKey(turn), String(count))
    return count
  }

  async #pushReports(tally: Tally, signal?: AbortSignal): Promise<DomainError | null> {
    let first: DomainError | null = null
    for (const item of this.#parts.log.listReportsToPush(ITEMS_AT_ONCE)) {
      const error = await guarded(async () => {
        stopWhenAborted(signal)
        const workspace = this.#parts.log.findWorkspace(item.workspace)
        if (workspace !== null) await this.#makeKnown(workspace, signal)
        if (await sendReport(this.#parts, item, signal)) tally.reports++
        this.#parts.log.markReportPushed(item.restore, this.#now())
      })
      if (error !== null && stopsEverything(error)) return error
      first ??= error
    }
    return first
  }

  /** All is offered again, once in a process's life: the service may have been set back to an earlier day. */
  #offerAgain(error: DomainError): boolean {
    if (this.#offeredAgain || judgeTrouble(error) !== 'from-start') return false
    this.#offeredAgain = true
    this.#known.clear()
    this.#parts.log.markAllUnpushed(false)
    this.#parts.note('offer-again', { code: error.code })
    return true
  }

  #now(): string {
    return new Date(this.#parts.clock.nowMs()).toISOString()
  }
}

const failureKey = (turn: TurnId) => `sync.failures.${turn}`

/** A turn that the service already has, in whatever form, needs no stub. */
async function sendStubUnlessKnown(push: PushParts, item: OutboxItem): Promise<void> {
  try {
    await sendStub(push, item)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'TURN_CONFLICT') throw error
  }
}

function stopWhenAborted(signal?: AbortSignal): void {
  if (signal?.aborted === true) throw new DomainError('SERVER_UNREACHABLE', { why: 'ABORTED' })
}

async function guarded(work: () => Promise<void>): Promise<DomainError | null> {
  try {
    await work()
    return null
  } catch (error) {
    return asDomainError(error)
  }
}
