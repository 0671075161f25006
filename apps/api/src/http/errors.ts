import { DomainError, type ErrorCode } from '@turnback/core'
import type { Problem } from '@turnback/core/api'
import { z } from 'zod'

export const PROBLEM = 'application/problem+json; charset=utf-8'

/** The one place where codes meet HTTP. A new code without a number does not compile. */
export const HTTP_STATUS: Readonly<Record<ErrorCode, number>> = {
  USAGE: 400,
  VALIDATION_FAILED: 400,
  RATE_LIMITED: 429,
  PAYLOAD_TOO_LARGE: 413,
  IDEMPOTENCY_MISMATCH: 409,
  IDEMPOTENCY_PENDING: 409,
  IDEMPOTENCY_UNANSWERED: 409,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CROSS_ORIGIN: 403,
  SIGN_IN_FAILED: 401,
  SETUP_CODE_INVALID: 403,
  ENROLLMENT_CODE_INVALID: 403,
  MACHINE_REVOKED: 403,
  SIGNATURE_INVALID: 401,
  NOT_LOGGED_IN: 401,
  PROJECT_NOT_FOUND: 404,
  MACHINE_NOT_FOUND: 404,
  WORKSPACE_NOT_FOUND: 404,
  TURN_NOT_FOUND: 404,
  TURN_AMBIGUOUS: 409,
  PATH_NOT_FOUND: 404,
  BLOB_NOT_FOUND: 404,
  RESTORE_NOT_FOUND: 404,
  NOT_FOUND: 404,
  ROOT_REFUSED: 422,
  NO_WORKSPACE: 404,
  NO_OPEN_TURN: 409,
  STORE_FULL: 507,
  NOT_RECORDED: 500,
  PACK_MISSING: 500,
  STORE_UNUSABLE: 500,
  CONFIG_INVALID: 500,
  SETTINGS_REFUSED: 500,
  STORE_LOCKED: 423,
  LEASE_LOST: 423,
  STORE_NEWER: 409,
  STORE_CORRUPT: 500,
  SOCKET_UNSAFE: 500,
  SERVICE_REFUSED: 500,
  NOT_RESTORABLE: 422,
  OUTSIDE_ROOT: 422,
  HISTORY_GAP: 409,
  TOKEN_STALE: 409,
  HEAD_MOVED: 409,
  CONFLICTS: 409,
  BUSY: 409,
  RESTORE_RUNNING: 409,
  POLICY_REFUSED: 403,
  PLAN_UNKNOWN: 409,
  NO_RECOVERY: 409,
  TASK_RUNNING: 409,
  TASK_NOT_FOUND: 404,
  TASK_REFUSED: 409,
  LANDING_REFUSED: 409,
  LANDING_FAILED: 409,
  REVERT_REFUSED: 409,
  EXTERNAL_HELD: 403,
  MANIFEST_INVALID: 422,
  PACK_INVALID: 422,
  BLOB_MISSING: 409,
  BLOB_HASH_MISMATCH: 422,
  TURN_CONFLICT: 409,
  CHAIN_BROKEN: 409,
  RESTORE_STATE_INVALID: 409,
  MACHINE_OFFLINE: 409,
  DIFF_UNAVAILABLE: 422,
  STORAGE_UNAVAILABLE: 503,
  SERVER_UNREACHABLE: 502,
  INTERNAL: 500,
}

/** The error that is told for whatever was thrown. Anything unexpected is INTERNAL and tells nothing of itself. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  if (error instanceof z.ZodError) return invalid(error)
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new DomainError('PAYLOAD_TOO_LARGE')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
      return new DomainError('VALIDATION_FAILED')
    default:
      return new DomainError('INTERNAL', {}, { cause: error })
  }
}

/** Which fields are wrong, and how; their values are not repeated. */
export function invalid(error: z.ZodError): DomainError {
  const fields = error.issues
    .slice(0, 20)
    .map((issue) => ({ path: issue.path.join('.'), message: issue.message }))
  return new DomainError('VALIDATION_FAILED', { fields })
}

export function toProblem(error: DomainError, requestId: string): Problem {
  return {
    type: `urn:turnback:error:${error.code}`,
    title: error.message,
    status: HTTP_STATUS[error.code],
    code: error.code,
    detail: error.message,
    remedy: error.remedy,
    instance: `urn:turnback:request:${requestId}`,
    details: { ...error.details },
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null
}
