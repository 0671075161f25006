import {
  commandIdSchema,
  limits,
  type RestoreId,
  restoreIdSchema,
  restoreRequestSchema,
} from '@turnback/core'
import { z } from 'zod'
import type { Log } from '#ports.ts'

/**
 * What this machine remembers of restores that were asked for through a service. Kept in the log's facts, so it
 * holds over a restart: a plan that was used stays used.
 */
const remotePlanSchema = z.object({
  restore: restoreIdSchema,
  command: commandIdSchema,
  request: restoreRequestSchema,
  requestedBy: z.object({ kind: z.enum(['user', 'token']), name: z.string() }),
  receivedAtMs: z.number(),
  /**
   * - `asked`: written down, not planned yet · `planned`: waits for a word
   * - `used`: a word came and was taken, once and for all · `closed`: refused, cancelled or too old
   */
  state: z.enum(['asked', 'planned', 'used', 'closed']),
  plannedAtMs: z.number().nullable(),
  usedAtMs: z.number().nullable(),
  token: z.string().nullable(),
  /** Paths that would be written or removed. */
  files: z.int().min(0),
  /** Whether the service has the plan or refusal. */
  isDelivered: z.boolean(),
  /** Whether the restore came to an end here: its report is written down. */
  isReported: z.boolean(),
})
export type RemotePlan = z.infer<typeof remotePlanSchema>

const LIST_KEY = 'sync.remotePlans'
const envelopeKey = (restore: RestoreId) => `sync.planEnvelope.${restore}`
/** More than can be used in the longest time that a plan or a rate counts. */
const KEPT = 300
const DAY_MS = 86_400_000

export class RemotePlans {
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  list(): RemotePlan[] {
    const fact = this.#log.findFact(LIST_KEY)
    return fact === null ? [] : z.array(remotePlanSchema).parse(JSON.parse(fact))
  }

  find(restore: RestoreId): RemotePlan | null {
    return this.list().find((plan) => plan.restore === restore) ?? null
  }

  /** Writes one down; the oldest that are over are forgotten. */
  put(plan: RemotePlan): void {
    this.#log.transact(() => {
      const others = this.list().filter((other) => other.restore !== plan.restore)
      const surplus = others.length + 1 - KEPT
      const isOver = (other: RemotePlan) =>
        other.state === 'closed' || other.receivedAtMs < plan.receivedAtMs - DAY_MS
      const dropped = surplus <= 0 ? [] : others.filter(isOver).slice(0, surplus)
      const kept = others.filter((other) => !dropped.includes(other))
      this.#log.putFact(LIST_KEY, JSON.stringify([...kept, plan]))
    })
  }

  change(restore: RestoreId, change: Partial<RemotePlan>): void {
    this.#log.transact(() => {
      const plan = this.find(restore)
      if (plan !== null) this.put({ ...plan, ...change })
    })
  }

  /** Takes a plan for good. @returns false when it was taken before, or is no plan that can be taken */
  use(restore: RestoreId, nowMs: number): boolean {
    return this.#log.transact(() => {
      const plan = this.find(restore)
      if (plan === null || plan.state !== 'planned') return false
      this.put({ ...plan, state: 'used', usedAtMs: nowMs })
      return true
    })
  }

  /** How many were taken in the hour before `nowMs`; one from the future, by a clock set back, counts too. */
  countUsedSince(nowMs: number): number {
    return this.list().filter((plan) => plan.usedAtMs !== null && plan.usedAtMs > nowMs - 3_600_000).length
  }

  isTooOld(plan: RemotePlan, nowMs: number): boolean {
    if (plan.plannedAtMs === null) return true
    const age = nowMs - plan.plannedAtMs
    return age < 0 || age >= limits.planTtlSeconds * 1000
  }

  /** The signed plan or refusal, to be sent and sent again as it is. */
  putEnvelope(restore: RestoreId, envelope: Uint8Array | null): void {
    this.#log.putFact(
      envelopeKey(restore),
      envelope === null ? null : Buffer.from(envelope).toString('base64'),
    )
  }

  findEnvelope(restore: RestoreId): Uint8Array | null {
    const fact = this.#log.findFact(envelopeKey(restore))
    return fact === null ? null : Buffer.from(fact, 'base64')
  }
}
