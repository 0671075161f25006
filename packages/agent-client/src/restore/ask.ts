import {
  canonicalJson,
  type PlanOptions,
  type RestoreId,
  type RestoreReport,
  type TurnId,
} from '@turnback/core'
import type { Workspace } from '#ports.ts'

/** What is to be taken back: a named turn, or what undo or redo find once the present is recorded. */
export type Target =
  | { readonly kind: 'turn'; readonly turn: TurnId }
  | { readonly kind: 'undo'; readonly session: string | null }
  | { readonly kind: 'redo' }

/** A restore as it is asked for, by whoever. */
export interface RestoreAsk {
  readonly workspace: Workspace
  readonly target: Target
  readonly options: Omit<PlanOptions, 'target'>
  readonly allowHeadChange: boolean
  /** Cuts a busy agent's turn off without waiting for quiet. */
  readonly closeOpen: boolean
  /** Tells what would be done, and does nothing. */
  readonly dryRun: boolean
  /** The preview that was agreed to; null to plan and carry out in one go. */
  readonly token: string | null
  /** Given by the service for a remote restore; null to make one. */
  readonly restore: RestoreId | null
  readonly requestedBy: RestoreReport['requestedBy']
  /** The process that asks, when it is one of this machine: a turn whose agent runs it does not stand in its way. */
  readonly callerPid?: number
}

/** The part of an ask that says what is wanted: a plan belongs to exactly one of these. */
export type Wish = Pick<RestoreAsk, 'target' | 'options'>

/** Equal wishes have equal texts. */
export function wishText({ target, options }: Wish): string {
  return canonicalJson({ target, options })
}

export const WHOLE_TURNS: RestoreAsk['options'] = {
  scope: 'from-turn',
  exact: false,
  onConflict: 'keep',
  paths: null,
  hunks: null,
}
