import { DomainError, limits } from '@turnback/core'
import type { PlainBuilder } from './plain.ts'

export function addWithinOption(command: PlainBuilder): PlainBuilder {
  return command.option(
    '--within <seconds>',
    `wait no longer than this (hooks: ${limits.hookWaitSeconds}); what is not seen by then makes the turn partial`,
  )
}

/** Null to take the time it takes. @throws USAGE */
export function parseWithin(text: string | undefined): number | null {
  if (text === undefined) return null
  const seconds = Number(text)
  if (text.trim() === '' || !Number.isFinite(seconds) || seconds < 0)
    throw new DomainError('USAGE', { within: text })
  return seconds
}
