import { DomainError } from '@turnback/core'
import type { Context } from './context.ts'

/**
 * Ends turns whose agent is gone, before they are shown as open. What only shows things does not fail for it.
 */
export async function lookAfterTurns(context: Context): Promise<void> {
  const workspace = context.findWorkspace()
  if (workspace === null) return
  try {
    await context.deps.capture.lookAfter(workspace)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    context.talk(`turnback: turns that were left open could not be closed: ${error.message}`)
  }
}
