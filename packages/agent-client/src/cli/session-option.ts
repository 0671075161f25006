import { DomainError } from '@turnback/core'
import type { PlainBuilder } from './plain.ts'

/** The option by which an agent says whose turn it is. A session without a name would be everybody's. */
export function addSessionOption(command: PlainBuilder): PlainBuilder {
  return command.requiredOption('--session <id>', 'session of the agent', (typed: string) => {
    if (typed === '') throw new DomainError('USAGE', {}, { message: '--session is empty: it takes a name.' })
    return typed
  })
}
