import {
  type DomainError,
  type PlanRequest,
  type Preview,
  REPORT_FORMAT,
  type RestoreCommit,
  type RestoreId,
  type RestoreReport,
  type RestoreRequest,
  type ServerMessage,
} from '@turnback/core'
import { type PlanBody, routes } from '@turnback/core/api'
import type { Capture, Clock, Home, Log, MachineIdentity, Workspace } from '#ports.ts'
import type { Caller } from './caller.ts'
import { findOwn } from './own-log.ts'
import { loadPolicy } from './policy.ts'
import { targetKey } from './push-reports.ts'
import { asDomainError, judgeReportTrouble } from './push-trouble.ts'
import { callOptions } from './push-turn.ts'
import { type RemotePlan, RemotePlans } from './remote-plans.ts'
import {
  countFiles,
  findCommitRefusal,
  findPlanRefusal,
  findSizeRefusal,
  mayRunAtOnce,
} from './remote-rules.ts'

/** What restore/ does for a word from afar: the very same as for one typed here. */
export interface RemoteRestores {
  /** Plans from this machine's own log and disk. @throws DomainError when no plan can be made */
  preview(workspace: Workspace, request: RestoreRequest, restore: RestoreId): Promise<Preview>
  /**
   * Carries the plan out if everything still is as it was when the token was made, and writes its report down.
   * @throws DomainError when nothing was done and no report was written
   */
  execute(workspace: Workspace, request: RestoreRequest, word: RestoreWord): Promise<RestoreReport>
}

export interface RestoreWord {
  readonly restore: RestoreId
  readonly token: string
  readonly requestedBy: RestoreReport['requestedBy']
}

export interface CommandParts {
  readonly log: Log
  readonly capture: Pick<Capture, 'recordReport'>
  readonly restores: RemoteRestores
  readonly identity: MachineIdentity
  readonly clock: Clock
  readonly home: Home
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
  /** Something waits to be sent. */
  wakePush(): void
}

/** Says that a command was taken up and need not be sent again. */
export type Acknowledge = () => void

/**
 * Does what a service may ask of this machine, one thing after the other, and nothing else. What is written down
 * before anything is done: a request before it is acknowledged, a plan's use before a file is touched.
 */
export class Commands {
  readonly #parts: CommandParts
  readonly plans: RemotePlans

  constructor(parts: CommandParts) {
    this.#parts = parts
    this.plans = new RemotePlans(parts.log)
  }

  /** Never throws for what was asked or how it went: that is answered by plan or report, and noted. */
  async handle(message: ServerMessage, acknowledge: Acknowledge): Promise<void> {
    switch (message.type) {
      case 'hello':
      case 'ping':
        return
      case 'plan.request':
        return this.#takeRequest(message, acknowledge)
      case 'restore.commit':
        return this.#takeCommit(message, acknowledge)
      case 'restore.cancel':
        this.#cancel(message.restore)
        return acknowledge()
      case 'checkpoint.request':
      case 'roster.update':
        this.#parts.note('not-available-yet', { type: message.type, id: message.id })
        return acknowledge()
    }
  }

  /** After a start: what was acknowledged and not planned yet, and what was cut off. */
  async resume(): Promise<void> {
    for (const plan of this.plans.list()) {
      if (plan.state === 'asked') await this.#plan(plan, { by: null, atMs: 0 })
      if (plan.state === 'used' && !plan.isReported) this.#closeCutOff(plan)
    }
  }

  /** Sends plans and refusals that the service has not. @throws when it is to be tried later */
  async deliver(caller: Caller, signal?: AbortSignal): Promise<void> {
    for (const plan of this.plans.list()) {
      if (plan.isDelivered || plan.state === 'asked') continue
      const envelope = this.plans.findEnvelope(plan.restore)
      if (envelope !== null) await this.#putPlan(caller, plan.restore, envelope, signal)
      this.plans.change(plan.restore, { isDelivered: true })
      this.plans.putEnvelope(plan.restore, null)
    }
  }

  async #putPlan(
    caller: Caller,
    restore: RestoreId,
    envelope: Uint8Array,
    signal?: AbortSignal,
  ): Promise<void> {
    try {
      await caller.call(routes.putPlan, { params: { restore }, bytes: [envelope] }, callOptions(signal))
      this.#parts.note('plan-sent', { restore })
    } catch (thrown) {
      const error = asDomainError(thrown)
      if (judgeReportTrouble(error) === 'later') throw error
      this.#parts.note('plan-not-taken', { restore, code: error.code, message: error.message })
    }
  }

  async #takeRequest(message: PlanRequest, acknowledge: Acknowledge): Promise<void> {
    if (this.plans.find(message.restore) !== null) {
      acknowledge()
      this.#parts.wakePush()
      return
    }
    const { kind, name } = message.requestedBy
    const asked: RemotePlan = {
      restore: message.restore,
      command: message.id,
      request: message.request,
      requestedBy: { kind, name },
      receivedAtMs: this.#parts.clock.nowMs(),
      state: 'asked',
      plannedAtMs: null,
      usedAtMs: null,
      token: null,
      files: 0,
      isDelivered: false,
      isReported: false,
    }
    this.#parts.log.transact(() => {
      this.plans.put(asked)
      this.#parts.log.putFact(targetKey(message.restore), message.request.turn)
    })
    this.#parts.note('plan-asked', { restore: message.restore, turn: message.request.turn, by: name })
    acknowledge()
    await this.#plan(asked, { by: message.requestedBy, atMs: Date.parse(message.requestedAt) })
  }

  async #plan(
    asked: RemotePlan,
    word: { by: PlanRequest['requestedBy'] | null; atMs: number },
  ): Promise<void> {
    const { clock, home } = this.#parts
    const made = await this.#makePlan(asked)
    const nowMs = clock.nowMs()
    const isMade = made.preview !== null
    const body: PlanBody = {
      restore: asked.restore,
      workspace: asked.request.workspace,
      preview: made.preview,
      refusal: made.refusal === null ? null : { code: made.refusal.code, message: made.refusal.message },
      mayRunAtOnce:
        made.preview !== null &&
        word.by !== null &&
        mayRunAtOnce(loadPolicy(home), made.preview, { by: word.by, atMs: word.atMs }, nowMs),
      plannedAt: new Date(nowMs).toISOString(),
    }
    this.#parts.log.transact(() => {
      // A cancel may have come in between.
      const state = this.plans.find(asked.restore)?.state === 'closed' || !isMade ? 'closed' : 'planned'
      this.plans.change(asked.restore, {
        state,
        plannedAtMs: isMade ? nowMs : null,
        token: made.preview?.token ?? null,
        files: made.preview === null ? 0 : countFiles(made.preview),
      })
      this.plans.putEnvelope(
        asked.restore,
        this.#parts.identity.signEnvelope('plan', Buffer.from(JSON.stringify(body))),
      )
    })
    this.#parts.note('planned', { restore: asked.restore, refusal: made.refusal?.code ?? null })
    this.#parts.wakePush()
  }

  /** Only ever of a workspace and a turn that this machine itself recorded. */
  async #makePlan(asked: RemotePlan): Promise<Made> {
    const { log, home, restores } = this.#parts
    try {
      const refusal = findPlanRefusal(loadPolicy(home))
      if (refusal !== null) return { preview: null, refusal }
      const { workspace } = findOwn(log, asked.request)
      const preview = await restores.preview(workspace, asked.request, asked.restore)
      const tooBig = findSizeRefusal(countFiles(preview))
      return tooBig === null ? { preview, refusal: null } : { preview: null, refusal: tooBig }
    } catch (error) {
      return { preview: null, refusal: asDomainError(error) }
    }
  }

  async #takeCommit(message: RestoreCommit, acknowledge: Acknowledge): Promise<void> {
    const { clock, log, home } = this.#parts
    const plan = this.plans.find(message.restore)
    if (plan === null || plan.state === 'used' || plan.state === 'closed') {
      // Nothing to report on: it never was a plan of ours, or it already came to its end.
      this.#parts.note('commit-not-followed', { restore: message.restore, state: plan?.state ?? 'unknown' })
      return acknowledge()
    }
    const nowMs = clock.nowMs()
    const refusal = findCommitRefusal(message, plan, {
      policy: loadPolicy(home),
      usedInLastHour: this.plans.countUsedSince(nowMs),
      isTooOld: this.plans.isTooOld(plan, nowMs),
      nowMs,
    })
    if (refusal !== null) {
      this.#refuse(plan, refusal)
      return acknowledge()
    }
    const isTaken = this.plans.use(message.restore, nowMs)
    acknowledge()
    if (isTaken) await this.#execute(log, plan, message)
  }

  async #execute(log: Log, plan: RemotePlan, commit: RestoreCommit): Promise<void> {
    const { name } = commit.authorisedBy
    this.#parts.note('restore-begins', { restore: plan.restore, turn: plan.request.turn, by: name })
    try {
      const { workspace } = findOwn(log, plan.request)
      const word = {
        restore: plan.restore,
        token: commit.token,
        requestedBy: { kind: 'user', name },
      } as const
      const report = await this.#parts.restores.execute(workspace, plan.request, word)
      this.plans.change(plan.restore, { isReported: true })
      this.#parts.note('restore-ended', { restore: plan.restore, status: report.status })
    } catch (error) {
      this.#refuse(plan, asDomainError(error))
    }
    this.#parts.wakePush()
  }

  #cancel(restore: RestoreId): void {
    const plan = this.plans.find(restore)
    if (plan === null || plan.state === 'used') return
    this.plans.change(restore, { state: 'closed' })
    this.#parts.note('plan-cancelled', { restore })
  }

  /** A plan that was taken, in a process that ended before it wrote a report down. */
  #closeCutOff(plan: RemotePlan): void {
    const { log } = this.#parts
    const { workspace } = plan.request
    if (log.listRestores(workspace).some((row) => row.detail.id === plan.restore)) {
      this.plans.change(plan.restore, { isReported: true })
    } else if (log.findJournal(workspace)?.restore === plan.restore) {
      // Half written: the next restoring command finishes it and reports then.
      this.#parts.note('restore-cut-off', { restore: plan.restore })
    } else {
      const error = asDomainError(
        new Error('The machine was stopped before the restore began; nothing was done.'),
      )
      this.#refuse(plan, error)
    }
  }

  /** Writes a report of a restore in which nothing was done. */
  #refuse(plan: RemotePlan, error: DomainError): void {
    const { log, capture } = this.#parts
    this.#parts.note('restore-refused', { restore: plan.restore, code: error.code, message: error.message })
    const workspace = log.findWorkspace(plan.request.workspace)
    log.transact(() => {
      const state =
        plan.state === 'used' || this.plans.find(plan.restore)?.state === 'used' ? 'used' : 'closed'
      this.plans.change(plan.restore, { state, isReported: true })
      if (workspace !== null) capture.recordReport(workspace, this.#emptyReport(plan, error))
    })
    this.#parts.wakePush()
  }

  #emptyReport(plan: RemotePlan, error: DomainError): RestoreReport {
    const at = new Date(this.#parts.clock.nowMs()).toISOString()
    return {
      format: REPORT_FORMAT,
      restore: plan.restore,
      turn: null,
      of: [],
      status: error.code === 'INTERNAL' ? 'failed' : 'refused',
      restored: [],
      deleted: [],
      merged: [],
      kept: [],
      failed: [],
      skipped: [],
      directories: { restored: [], deleted: [], kept: [] },
      alsoUndone: [],
      unchanged: 0,
      irreversible: [],
      verified: false,
      recovered: false,
      error: { code: error.code, message: error.message },
      requestedBy: plan.requestedBy,
      startedAt: at,
      endedAt: at,
    }
  }
}

type Made =
  | { readonly preview: Preview; readonly refusal: null }
  | { readonly preview: null; readonly refusal: DomainError }
