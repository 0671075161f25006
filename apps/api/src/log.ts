import type { FastifyServerOptions } from 'fastify'
import type { LogLevel } from './config.ts'

/** Never in a log, wherever it comes from: what lets somebody in, and what people wrote. */
const REDACTED = [
  'authorization',
  'cookie',
  'set-cookie',
  'password',
  'token',
  'code',
  'secret',
  'body',
  'prompt',
].flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`])
/** Codes of errors are for reading. */
const SPOKEN = new Set(['["code"]', '*["code"]'])

interface LoggedError {
  [fact: string]: unknown
  type: string
  message: string
  stack: string
}

/** JSON lines on stdout. */
export function loggerOptions(level: LogLevel): FastifyServerOptions['logger'] {
  return {
    level,
    redact: { paths: REDACTED.filter((path) => !SPOKEN.has(path)), censor: '[redacted]' },
    serializers: { err: describeError },
    base: null,
  }
}

/**
 * An error for the log. A failed query's own text holds the query's values, which are people's; what the database
 * said of it does not.
 */
function describeError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { type: 'thrown', message: typeof error, stack: '' }
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) }
  const code = 'code' in error ? { code: error.code } : {}
  if ('query' in error) return { type: error.name, message: 'a query failed', stack: '', ...code, ...cause }
  const stack = (error.stack ?? '')
    .split('\n')
    .filter((line: string) => line.trimStart().startsWith('at '))
    .slice(0, 12)
    .join('\n')
  return { type: error.name, message: error.message, stack, ...code, ...cause }
}
