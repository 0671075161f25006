import { DomainError } from '@turnback/core'

/**
 * What to do when sending a turn fails:
 * - `later`: nothing is wrong with the turn; it stays where it is and everything waits
 * - `set-aside`: this turn cannot be sent as it is, ever; a stub goes in its place and the next ones follow
 * - `count`: the service failed at it; after a few runs it counts as `set-aside`, so that it blocks nothing for good
 * - `from-start`: the service has not what we think it has; all of the workspace is offered again
 */
export type Trouble = 'later' | 'set-aside' | 'count' | 'from-start'

export function judgeTrouble(error: DomainError): Trouble {
  switch (error.code) {
    case 'PAYLOAD_TOO_LARGE':
    case 'MANIFEST_INVALID':
    case 'VALIDATION_FAILED':
    case 'BLOB_NOT_FOUND':
    case 'BLOB_HASH_MISMATCH':
    case 'BLOB_MISSING':
    case 'TURN_CONFLICT':
      return 'set-aside'
    case 'INTERNAL':
    case 'PACK_INVALID':
      return 'count'
    case 'CHAIN_BROKEN':
    case 'WORKSPACE_NOT_FOUND':
      return 'from-start'
    default:
      return 'later'
  }
}

/** A report is never counted or offered again with others: it is taken, refused for good, or tried later. */
export function judgeReportTrouble(error: DomainError): 'later' | 'refused' {
  if (error.code === 'RESTORE_STATE_INVALID' || error.code === 'RESTORE_NOT_FOUND') return 'refused'
  return judgeTrouble(error) === 'set-aside' ? 'refused' : 'later'
}

/**
 * A head says nothing that turns do not say later, so one that a service cannot take (an older one has no place for
 * it) holds nothing up. `contradicted`: the service knows another history.
 */
export function judgeHeadTrouble(error: DomainError): 'later' | 'refused' | 'contradicted' {
  if (error.code === 'CHAIN_BROKEN') return 'contradicted'
  if (error.code === 'NOT_FOUND') return 'refused'
  return judgeTrouble(error) === 'set-aside' ? 'refused' : 'later'
}

/** True when nothing else can be sent either: trying the next workspace would be the same trouble again. */
export function stopsEverything(error: DomainError): boolean {
  switch (error.code) {
    case 'SERVER_UNREACHABLE':
    case 'UNAUTHENTICATED':
    case 'MACHINE_REVOKED':
    case 'SIGNATURE_INVALID':
    case 'RATE_LIMITED':
    case 'STORAGE_UNAVAILABLE':
    case 'NOT_LOGGED_IN':
      return true
    default:
      return false
  }
}

/** What was thrown, as an error of the catalogue. */
export function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new DomainError('INTERNAL', {}, { message, cause: error })
}
