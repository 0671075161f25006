/**
 * The catalogue of everything that can go wrong in a way that a person can act on. A code is the only thing
 * programs may decide by; message and remedy are for people. docs/reference/errors.md lists the same codes.
 */
export const errorCatalogue = {
  // asking
  USAGE: { message: 'The command was not understood.', remedy: 'Run it with --help to see how it is used.' },
  VALIDATION_FAILED: {
    message: 'Something in the request is not as it should be.',
    remedy: 'Correct the fields that are named and send it again.',
  },
  RATE_LIMITED: {
    message: 'Too many requests in a short time.',
    remedy: 'Wait for the time given in Retry-After and try again.',
  },
  PAYLOAD_TOO_LARGE: {
    message: 'What was sent is larger than the server takes.',
    remedy: 'Send it in smaller parts; the limit is in the details.',
  },
  IDEMPOTENCY_MISMATCH: {
    message: 'This idempotency key was already used for another request.',
    remedy: 'Use a new key for a new request.',
  },
  IDEMPOTENCY_PENDING: {
    message: 'The first request with this idempotency key has no answer yet.',
    remedy: 'Wait for the time given in Retry-After and send the very same again.',
  },
  IDEMPOTENCY_UNANSWERED: {
    message: 'The first request with this idempotency key was carried out, but its answer is lost.',
    remedy: 'Look at the list for what it made. It is not carried out again.',
  },
  // who
  UNAUTHENTICATED: {
    message: 'You are not signed in, or your session has ended.',
    remedy: 'Sign in and try again.',
  },
  FORBIDDEN: { message: 'Your role does not allow this.', remedy: 'Ask an administrator of the project.' },
  CROSS_ORIGIN: {
    message: 'The request came from a page of another site and was refused.',
    remedy: 'Open Turnback at its own address and try there.',
  },
  SIGN_IN_FAILED: { message: 'E-mail or password is wrong.', remedy: 'Check both and try again.' },
  SETUP_CODE_INVALID: {
    message: 'This set-up link is wrong, used or too old.',
    remedy: 'Start the service again to have a new link printed.',
  },
  ENROLLMENT_CODE_INVALID: {
    message: 'This enrolment code is wrong, used or too old.',
    remedy: 'Make a new code on the machines page.',
  },
  MACHINE_REVOKED: {
    message: 'This machine was removed from the service.',
    remedy: 'Enrol it again with `turnback login`.',
  },
  SIGNATURE_INVALID: {
    message: 'The signature does not fit what was sent.',
    remedy: 'Check that the clock of the machine is right; enrol it again if this stays.',
  },
  NOT_LOGGED_IN: {
    message: 'This machine is not connected to a Turnback service.',
    remedy: 'Run `turnback login URL`.',
  },
  // not found
  PROJECT_NOT_FOUND: {
    message: 'There is no such project.',
    remedy: 'Check the id; you may not be a member of it.',
  },
  MACHINE_NOT_FOUND: { message: 'There is no such machine.', remedy: 'Check the id on the machines page.' },
  WORKSPACE_NOT_FOUND: {
    message: 'There is no such workspace.',
    remedy: 'Run `turnback init` in the folder.',
  },
  TURN_NOT_FOUND: { message: 'There is no such turn.', remedy: 'Run `turnback log` to see the turns.' },
  TURN_AMBIGUOUS: {
    message: 'More than one turn begins with these letters.',
    remedy: 'Give more letters of the id, or the turn’s number.',
  },
  PATH_NOT_FOUND: {
    message: 'This turn did not touch that path.',
    remedy: 'Run `turnback show TURN` to see its paths.',
  },
  BLOB_NOT_FOUND: {
    message: 'The bytes of this file are not here.',
    remedy: 'They may not have been sent yet, or are gone by retention.',
  },
  RESTORE_NOT_FOUND: { message: 'There is no such restore.', remedy: 'Check the id.' },
  NOT_FOUND: { message: 'There is nothing at this address.', remedy: 'Check the address.' },
  // capture
  ROOT_REFUSED: {
    message: 'This folder cannot be a workspace.',
    remedy:
      'Choose a project folder: not /, not your home folder, not the folder where Turnback keeps its store.',
  },
  NO_WORKSPACE: { message: 'This folder is not in a workspace yet.', remedy: 'Run `turnback init` here.' },
  NO_OPEN_TURN: { message: 'There is no open turn to end.', remedy: 'Begin one with `turnback begin`.' },
  STORE_FULL: {
    message: 'The disk that holds the store is full, so nothing could be written to it.',
    remedy: 'Free some space on that disk; `turnback gc` may do that. Then run the command again.',
  },
  NOT_RECORDED: {
    message: 'The system refused something that was needed, so nothing was recorded.',
    remedy: 'Put right what is named here, then run the command again.',
  },
  PACK_MISSING: {
    message: 'A pack of the store is missing or is not as it was written, so nothing was recorded.',
    remedy: 'Run `turnback verify` to see what is lost, then run the command again.',
  },
  STORE_UNUSABLE: {
    message: 'The folder in which Turnback keeps its store cannot be used.',
    remedy:
      'Put right what is named here, or set TURNBACK_HOME to a folder that you may write in; then run the command again.',
  },
  CONFIG_INVALID: {
    message: 'The settings file cannot be understood.',
    remedy:
      'Correct the place that is named, or remove the file to go on with the usual settings; then run the command again.',
  },
  SETTINGS_REFUSED: {
    message: 'The agent’s settings are left as they are.',
    remedy: 'Put right what is named here, then run the command again. No setting of this agent was changed.',
  },
  STORE_LOCKED: {
    message: 'Another Turnback process is using the store.',
    remedy: 'Wait for it to end and try again.',
  },
  STORE_NEWER: {
    message: 'The store was written by a newer Turnback.',
    remedy: 'Update Turnback on this machine.',
  },
  STORE_CORRUPT: {
    message: 'The store has damage that cannot be repaired by itself.',
    remedy: 'Run `turnback verify` to see what is lost; nothing in your folder was touched.',
  },
  SOCKET_UNSAFE: {
    message: 'The folder in which commands meet the resident client is not yours alone.',
    remedy: 'Look at who made it; then run `chmod 700` on it, or remove it, and connect again.',
  },
  SERVICE_REFUSED: {
    message: 'The system’s service manager did not do what it was asked.',
    remedy:
      'The details say what it was asked and what it said. `turnback connect` starts the client without it.',
  },
  // restore
  NOT_RESTORABLE: {
    message: 'An outside entry is nobody’s turn and cannot be restored by itself.',
    remedy: 'Name a turn; `--exact` also covers what was changed outside of turns.',
  },
  OUTSIDE_ROOT: {
    message: 'That path lies outside the workspace.',
    remedy: 'Name a path inside the workspace.',
  },
  HISTORY_GAP: {
    message: 'The turns in between were removed by retention, so the way back is not known.',
    remedy: 'Return to a pinned turn or a checkpoint instead.',
  },
  TOKEN_STALE: {
    message: 'Something changed since the preview, so nothing was done.',
    remedy: 'Look at a new preview and confirm that one.',
  },
  HEAD_MOVED: {
    message: 'The commit or branch is not the one the turn ended on, so nothing was done.',
    remedy: 'Go back to that commit, or add --allow-head-change.',
  },
  CONFLICTS: {
    message: 'Some files were changed since and you asked to fail then; nothing was done.',
    remedy: 'Choose --on-conflict keep, save or merge.',
  },
  BUSY: {
    message: 'The agent is still at work in this folder, so nothing was done.',
    remedy: 'Wait for it to end, or add --close-open to cut its turn off.',
  },
  RESTORE_RUNNING: {
    message: 'Another restore is running in this workspace.',
    remedy: 'Wait for it to end and try again.',
  },
  LEASE_LOST: {
    message:
      'This process stood still for so long that another one took the workspace over. It stopped where it was.',
    remedy: 'Run `turnback status` to see whether a restore is unfinished: `turnback recover` finishes it.',
  },
  POLICY_REFUSED: {
    message: 'The policy of this machine does not allow that.',
    remedy: 'Change it on the machine itself: `turnback policy set`.',
  },
  PLAN_UNKNOWN: {
    message: 'This plan is not known to the machine, was used, or is too old.',
    remedy: 'Ask for a new plan.',
  },
  NO_RECOVERY: {
    message: 'No restore was cut off here; there is nothing to recover.',
    remedy: 'Nothing to do.',
  },
  // tasks
  TASK_RUNNING: {
    message: 'Another task is being run in this tree.',
    remedy: 'Wait for it to end, or give each task a git worktree of its own: those do not see each other.',
  },
  TASK_NOT_FOUND: {
    message: 'Neither a commit nor a turn of this task was found.',
    remedy: 'Run `turnback log` to see the turns, and `git log --grep=Task-Id` to see landed tasks.',
  },
  TASK_REFUSED: {
    message: 'The task was not begun: something has to be put in order first.',
    remedy: 'Do what is named here, then run the command again.',
  },
  LANDING_REFUSED: {
    message: 'The task’s work cannot be committed without touching somebody else’s.',
    remedy:
      'See the paths that are named; without --commit the work stays in the tree and nothing is committed.',
  },
  LANDING_FAILED: {
    message: 'Git did not make the commit.',
    remedy: 'See what git or a hook of the repository said, then run the task again.',
  },
  REVERT_REFUSED: {
    message: 'The task can not be reverted alone; nothing was done.',
    remedy: 'See what stands in the way, and revert that first.',
  },
  EXTERNAL_HELD: {
    message: 'The task would reach beyond its files, and nobody said yes to that.',
    remedy: 'Run it at a terminal and answer there, or leave out --hold-external.',
  },
  // push and server
  MANIFEST_INVALID: {
    message: 'The turn that was sent is not in a form that this server knows.',
    remedy: 'Update the client or the server so that both know the format.',
  },
  PACK_INVALID: {
    message: 'The pack that was sent is cut off or not in a form that this server knows.',
    remedy: 'Send it again; if this stays, update the client or the server.',
  },
  BLOB_MISSING: {
    message: 'The turn names bytes that were not sent.',
    remedy: 'Send the blobs that are named, then the turn again.',
  },
  BLOB_HASH_MISMATCH: {
    message: 'The bytes do not fit their name.',
    remedy: 'Read the file again and send it again.',
  },
  TURN_CONFLICT: {
    message: 'This turn was already sent with other bytes.',
    remedy: 'A turn is written once; the machine’s log may have been altered.',
  },
  CHAIN_BROKEN: {
    message: 'The turn does not follow the last one of its workspace.',
    remedy: 'Send the turns in order; if this stays, the machine’s log may have been altered.',
  },
  RESTORE_STATE_INVALID: {
    message: 'The restore is not at the step where this can be done.',
    remedy: 'Look at the restore’s state again.',
  },
  MACHINE_OFFLINE: {
    message: 'The machine is not connected.',
    remedy: 'Start `turnback connect` there; the request waits for it.',
  },
  DIFF_UNAVAILABLE: {
    message: 'There is no diff to show for this path.',
    remedy: 'It is sealed, binary or was not captured; see the reason.',
  },
  STORAGE_UNAVAILABLE: {
    message: 'The server’s storage does not answer.',
    remedy: 'Try again soon; the operator finds the cause in the log.',
  },
  SERVER_UNREACHABLE: {
    message: 'The Turnback service does not answer.',
    remedy: 'Check the address and the network; everything goes on locally and is sent later.',
  },
  INTERNAL: {
    message: 'Something went wrong inside Turnback.',
    remedy: 'Tell the operator the request id; it leads to the log.',
  },
} as const satisfies Record<string, { message: string; remedy: string }>

export type ErrorCode = keyof typeof errorCatalogue

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCatalogue, code)
}

/** Facts that belong to an error: plain JSON, safe to show to whoever caused it. */
export type ErrorDetails = Readonly<Record<string, unknown>>

export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly remedy?: string | undefined
  readonly details?: ErrorDetails | undefined
}

/** An expected failure with a code of the catalogue. Crosses HTTP, WebSocket and CLI by toJSON and fromJSON. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly remedy: string
  readonly details: ErrorDetails

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: { message?: string; cause?: unknown }) {
    super(
      options?.message ?? errorCatalogue[code].message,
      options?.cause === undefined ? {} : { cause: options.cause },
    )
    this.name = 'DomainError'
    this.code = code
    this.remedy = errorCatalogue[code].remedy
    this.details = details
  }

  toJSON(): ErrorBody {
    return { code: this.code, message: this.message, remedy: this.remedy, details: this.details }
  }

  /** Null when the code is not of this catalogue: it came from another version. */
  static fromJSON(body: ErrorBody): DomainError | null {
    if (!isErrorCode(body.code)) return null
    return new DomainError(body.code, body.details ?? {}, { message: body.message })
  }
}

/** For states that cannot be. Never for anything a user, a file or the network can cause. */
export function invariant(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${why}`)
}
