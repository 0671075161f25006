import { DomainError, type OwnEnd } from '@turnback/core'

export const REASONS = ['completed', 'failed', 'interrupted'] as const satisfies readonly OwnEnd[]

/** @throws USAGE */
export function parseReason(text: string): OwnEnd {
  const reason = REASONS.find((each) => each === text)
  if (reason === undefined) throw new DomainError('USAGE', { reason: text, known: REASONS })
  return reason
}
