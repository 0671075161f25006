import { errorCatalogue, isErrorCode } from '@turnback/core'
import { isApiError } from './api.ts'

/** What is shown of an error: what happened, and what to do about it. */
export interface ErrorText {
  readonly code: string
  readonly message: string
  readonly remedy: string
}

/** Where the catalogue speaks to someone at a terminal, the page has other words. */
const webTexts: Readonly<Record<string, { message?: string; remedy?: string }>> = {
  VALIDATION_FAILED: { remedy: 'Correct it and try again.' },
  SIGN_IN_FAILED: { remedy: 'Check both and try again.' },
  MACHINE_NOT_FOUND: { remedy: 'It may have been removed. Look at the machines page.' },
  WORKSPACE_NOT_FOUND: { remedy: 'It may have been removed, or you are not a member of its project.' },
  PROJECT_NOT_FOUND: { remedy: 'Check the address; you may not be a member of it.' },
  TURN_NOT_FOUND: { remedy: 'Check the address; you may not be a member of its project.' },
  RESTORE_NOT_FOUND: {
    message: 'There is no such rewind.',
    remedy: 'Check the address; you may not be a member of its project.',
  },
  PATH_NOT_FOUND: { remedy: 'Look at the list of files of this turn.' },
  NOT_RESTORABLE: {
    message: 'Changes outside of turns are nobody’s turn and cannot be rewound by themselves.',
    remedy: 'Choose the turn before or after them.',
  },
  TOKEN_STALE: { remedy: 'Look at the new plan and confirm that one.' },
  HEAD_MOVED: {
    message: 'The commit or branch is not the one the turn ended on, so nothing was done.',
    remedy: 'Go back to that commit on the machine, or rewind anyway: files change, the commit stays.',
  },
  CONFLICTS: { remedy: 'Choose what to do with them.' },
  BUSY: { remedy: 'Wait for the agent to end, then try again.' },
  POLICY_REFUSED: {
    remedy: 'Its owner can change that on the machine itself: turnback policy set remote owner',
  },
  PLAN_UNKNOWN: { message: 'This plan was used already or is too old.', remedy: 'Ask for a new plan.' },
  RESTORE_STATE_INVALID: {
    message: 'This rewind has moved on in the meantime.',
    remedy: 'Look at where it is now.',
  },
  SETUP_CODE_INVALID: { remedy: 'Start the service again to have a new link printed.' },
  PAGE_OUTDATED: {
    message: 'The service answered in a form that this page does not know.',
    remedy: 'Reload the page. If it stays, the service and the web are of different versions.',
  },
  SERVER_UNREACHABLE: { remedy: 'Check your network. This page tries again by itself.' },
}

/** Text for whatever was thrown. Nothing of an unknown error is shown but that there was one. */
export function describeError(error: unknown): ErrorText {
  if (!isApiError(error)) return textOfCode('INTERNAL')
  const text = textOfCode(error.code, error.message)
  if (error.code === 'RATE_LIMITED' && error.retryAfterSeconds !== null) {
    return { ...text, remedy: `Try again in ${error.retryAfterSeconds} s.` }
  }
  return text
}

/**
 * Text for a code, also for one that a machine sent.
 * @param message what came with it; shown when the code is of a newer version than this page
 */
export function textOfCode(code: string, message?: string): ErrorText {
  const own = webTexts[code]
  const known = isErrorCode(code) ? errorCatalogue[code] : null
  return {
    code,
    message: own?.message ?? known?.message ?? message ?? errorCatalogue.INTERNAL.message,
    remedy: own?.remedy ?? known?.remedy ?? 'Try again; if it stays, tell the operator the code.',
  }
}
