import { findHome } from '#config.ts'
import { makeLogFile } from '#store/log-file.ts'
import type { Context } from './context.ts'

/**
 * An agent may take what a hook prints, or a bad exit, for a word to itself. So trouble goes into the log alone, and the
 * hook ends well.
 */
export function noteHookTrouble(context: Context, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  noteOfHook(context, 'failed', { message })
}

export function noteOfHook(context: Context, event: string, facts: Readonly<Record<string, unknown>>): void {
  makeLogFile(findHome(context.env).logs, 'hooks', () => Date.now())(event, facts)
}
