import type { ErrorCode } from '@turnback/core'

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  partly: 4,
  notLoggedIn: 5,
  interrupted: 130,
} as const
export type Exit = keyof typeof EXIT

/** Codes that do not simply mean: failed, and nothing was done. */
const EXITS: Partial<Record<ErrorCode, Exit>> = {
  USAGE: 'usage',
  VALIDATION_FAILED: 'usage',
  CONFIG_INVALID: 'usage',
  OUTSIDE_ROOT: 'usage',
  NOT_RESTORABLE: 'usage',
  TURN_AMBIGUOUS: 'usage',
  ROOT_REFUSED: 'refused',
  HISTORY_GAP: 'refused',
  TOKEN_STALE: 'refused',
  HEAD_MOVED: 'refused',
  CONFLICTS: 'refused',
  BUSY: 'refused',
  RESTORE_RUNNING: 'refused',
  POLICY_REFUSED: 'refused',
  PLAN_UNKNOWN: 'refused',
  SETTINGS_REFUSED: 'refused',
  TASK_RUNNING: 'refused',
  TASK_REFUSED: 'refused',
  LANDING_REFUSED: 'refused',
  REVERT_REFUSED: 'refused',
  EXTERNAL_HELD: 'refused',
  LEASE_LOST: 'partly',
  NOT_LOGGED_IN: 'notLoggedIn',
  UNAUTHENTICATED: 'notLoggedIn',
  MACHINE_REVOKED: 'notLoggedIn',
}

export function exitOf(code: ErrorCode): number {
  return EXIT[EXITS[code] ?? 'failed']
}
