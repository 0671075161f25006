import { DomainError } from '@turnback/core'
import type { Command } from 'commander'

/** The option by which an agent says whose turn it is. A session without a name would be everybody's. */
export function addSessionOption(command: Command): Command {
  return command.requiredOption('--session <id>', 'session of the agent', (typed) => {
    if (typed === '') throw new DomainError('USAGE', {}, { message: '--session is empty: it takes a name.' })
    return typed
  })
}
