import type { RestoreId, RestoreReport, ServerMessage } from '@turnback/core'
import type { Deps } from '#ports.ts'
import type { RemoteRestores } from '#restore/remote.ts'
import type { Caller } from './caller.ts'
import { takeCheckpoint } from './remote-checkpoint.ts'
import { approve, endCutOff, takeCommit } from './remote-commit.ts'
import { RemotePlans } from './remote-plans.ts'
import { deliverPlans, planAsked, takeRequest } from './remote-request.ts'

export interface CommandParts {
  readonly deps: Deps
  readonly restores: RemoteRestores
  note(event: string, facts?: Readonly<Record<string, unknown>>): void
  /** Something waits to be sent. */
  wakePush(): void
}

export interface CommandContext extends CommandParts {
  readonly plans: RemotePlans
}

/** Says that a command was taken up and need not be sent again. */
export type Acknowledge = () => void

/**
 * Does what a service may ask of this machine, and nothing else. Things are written down before they are done: a
 * request before it is acknowledged, a plan's use before a file is touched.
 */
export class Commands {
  readonly #context: CommandContext

  constructor(parts: CommandParts) {
    this.#context = { ...parts, plans: new RemotePlans(parts.deps.log) }
  }

  /** To be called for one message after the other. What comes of it is told by plans, reports and the log file. */
  async handle(message: ServerMessage, acknowledge: Acknowledge): Promise<void> {
    switch (message.type) {
      case 'hello':
      case 'ping':
        return
      case 'plan.request':
        return takeRequest(this.#context, message, acknowledge)
      case 'restore.commit':
        return takeCommit(this.#context, message, acknowledge)
      case 'restore.cancel':
        this.#cancel(message.restore)
        return acknowledge()
      case 'checkpoint.request':
        return takeCheckpoint(this.#context, message, acknowledge)
      case 'roster.update':
        this.#context.note('not-available-yet', { type: message.type, id: message.id })
        return acknowledge()
    }
  }

  /** After a start: what was acknowledged and not planned yet, and what was taken and has no report. */
  async resume(): Promise<void> {
    for (const plan of this.#context.plans.list()) {
      if (plan.state === 'asked') await planAsked(this.#context, plan, null)
      if (plan.state === 'used' && !plan.isReported) await endCutOff(this.#context, plan)
    }
  }

  /** Sends plans and refusals that the service has not. @throws when it is to be tried later */
  deliver(caller: Caller, signal?: AbortSignal): Promise<void> {
    return deliverPlans(this.#context, caller, signal)
  }

  /** A yes that was given at this machine. @throws see {@link approve} */
  approve(restore: RestoreId): Promise<RestoreReport> {
    return approve(this.#context, restore)
  }

  #cancel(restore: RestoreId): void {
    const { plans, note } = this.#context
    const plan = plans.find(restore)
    if (plan === null || plan.state === 'used') return
    plans.change(restore, { state: 'closed' })
    note('plan-cancelled', { restore })
  }
}
