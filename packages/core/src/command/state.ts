import { z } from 'zod'
import { limits } from '#limits.ts'
import type { RestoreStatus } from '#manifest/manifest.ts'

export const restoreStateSchema = z.enum([
  'queued',
  'planning',
  'awaiting-confirmation',
  'applying',
  'done',
  'partly-done',
  'refused',
  'failed',
  'expired',
  'cancelled',
])
/** Where a remote restore stands, as the server and the screen tell it. */
export type RestoreState = z.infer<typeof restoreStateSchema>

/** What the rules need to know of a remote restore. Times in milliseconds since 1970, by the server's clock. */
export interface RestoreProgress {
  readonly status: RestoreState
  readonly mode: 'preview' | 'run'
  readonly requestedAtMs: number
  /** Token of the plan that waits for a word; null before there is one. */
  readonly token: string | null
  /** When the present state ends by itself; null when it does not. */
  readonly expiresAtMs: number | null
}

export type RestoreStep =
  /** The machine took the request up. */
  | { readonly type: 'taken-up'; readonly atMs: number }
  /** A plan came. `isClean`: no conflict, nothing else undone, nothing sensitive, the same HEAD. */
  | {
      readonly type: 'planned'
      readonly atMs: number
      readonly token: string
      readonly isClean: boolean
      readonly mayRunAtOnce: boolean
    }
  /** The machine made no plan and said why. */
  | { readonly type: 'refused'; readonly atMs: number }
  | { readonly type: 'confirmed'; readonly atMs: number; readonly token: string }
  | { readonly type: 'cancelled'; readonly atMs: number }
  | { readonly type: 'time-passed'; readonly atMs: number }
  | { readonly type: 'reported'; readonly atMs: number; readonly status: RestoreStatus }

/** What is to be said to the machine once the step is written down. */
export type RestoreEffect = { readonly type: 'commit'; readonly token: string } | { readonly type: 'cancel' }

export type RestoreTransition =
  | { readonly ok: true; readonly next: RestoreProgress; readonly effect: RestoreEffect | null }
  /** `stale`: the token is not that of the plan, or the plan is too old. `state`: not at this step. */
  | { readonly ok: false; readonly why: 'state' | 'stale' }

const STATE: RestoreTransition = { ok: false, why: 'state' }
const STALE: RestoreTransition = { ok: false, why: 'stale' }

/**
 * The one state machine of remote restores: what a step makes of a restore, or why it cannot be taken.
 * The server asks it before it writes; nothing is sent from here.
 */
export function stepRestore(at: RestoreProgress, step: RestoreStep): RestoreTransition {
  switch (step.type) {
    case 'taken-up':
      return at.status === 'queued' ? waitFor(at, 'planning', step.atMs, limits.planTtlSeconds) : STATE
    case 'planned':
      return plan(at, step)
    case 'refused':
      return isBeforePlan(at) ? end(at, 'refused') : STATE
    case 'confirmed':
      return confirm(at, step)
    case 'cancelled':
      return isBeforePlan(at) || at.status === 'awaiting-confirmation'
        ? { ok: true, next: { ...at, status: 'cancelled', expiresAtMs: null }, effect: { type: 'cancel' } }
        : STATE
    case 'time-passed':
      return at.expiresAtMs !== null && step.atMs >= at.expiresAtMs ? end(at, 'expired') : STATE
    case 'reported':
      // A plan that waits may be agreed to at the machine itself. And one that was away may report after we gave up
      // on it; what was done was done.
      return at.status === 'applying' ||
        at.status === 'awaiting-confirmation' ||
        (at.status === 'expired' && at.token !== null)
        ? end(at, stateOf(step.status))
        : STATE
  }
}

/** True when nothing more will come of it. */
export function isSettled(status: RestoreState): boolean {
  switch (status) {
    case 'queued':
    case 'planning':
    case 'awaiting-confirmation':
    case 'applying':
      return false
    case 'done':
    case 'partly-done':
    case 'refused':
    case 'failed':
    case 'expired':
    case 'cancelled':
      return true
  }
}

/** The state that a report's status leaves a restore in. */
export function stateOf(status: RestoreStatus): RestoreState {
  return status === 'nothing-to-do' ? 'done' : status
}

function plan(at: RestoreProgress, step: Extract<RestoreStep, { type: 'planned' }>): RestoreTransition {
  if (!isBeforePlan(at)) return STATE
  const planned = { ...at, token: step.token }
  const isFresh = step.atMs - at.requestedAtMs <= limits.queuedRunSeconds * 1000
  if (at.mode === 'run' && step.isClean && step.mayRunAtOnce && isFresh)
    return apply(planned, step.token, step.atMs)
  return waitFor(planned, 'awaiting-confirmation', step.atMs, limits.planTtlSeconds)
}

function confirm(at: RestoreProgress, step: Extract<RestoreStep, { type: 'confirmed' }>): RestoreTransition {
  if (at.status !== 'awaiting-confirmation') return STATE
  if (at.token !== step.token || (at.expiresAtMs !== null && step.atMs >= at.expiresAtMs)) return STALE
  return apply(at, step.token, step.atMs)
}

function apply(at: RestoreProgress, token: string, atMs: number): RestoreTransition {
  const waiting = waitFor(at, 'applying', atMs, limits.applyTtlSeconds)
  return { ...waiting, effect: { type: 'commit', token } }
}

function waitFor(at: RestoreProgress, status: RestoreState, atMs: number, seconds: number) {
  return { ok: true, next: { ...at, status, expiresAtMs: atMs + seconds * 1000 }, effect: null } as const
}

function end(at: RestoreProgress, status: RestoreState): RestoreTransition {
  return { ok: true, next: { ...at, status, expiresAtMs: null }, effect: null }
}

function isBeforePlan(at: RestoreProgress): boolean {
  return at.status === 'queued' || at.status === 'planning'
}
