import { DomainError } from '@turnback/core'
import { findHome } from '#config.ts'
import { makeLogFile } from '#store/log-file.ts'
import type { Context } from './context.ts'

/**
 * An agent may take what a hook prints, or a bad exit, for a word to itself. So trouble goes into the log alone, and the
 * hook ends well.
 */
export function noteHookTrouble(context: Context, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof DomainError ? { code: error.code, ...error.details } : {}
  noteOfHook(context, 'failed', { message, ...code })
}

function noteOfHook(context: Context, event: string, facts: Readonly<Record<string, unknown>>): void {
  makeLogFile(findHome(context.env).logs, 'hooks', () => Date.now())(event, facts)
}

/** What is not known of an agent's news, the first time that it is met. */
export function noteOnce(context: Context, agent: string, what: string): void {
  const key = `unknown:${agent}:${what.slice(0, 100)}`
  const { log } = context.deps
  if (log.findFact(key) !== null) return
  log.putFact(key, new Date().toISOString())
  noteOfHook(context, 'not-understood', { agent, what: what.slice(0, 100) })
}
