import type { Environment } from '#config.ts'

/**
 * What `bin/turnback` writes down for the resident client: fields that each end with a NUL, which no argument and no
 * variable can hold.
 *
 *     1 · client's version · pid · parent's pid · terminals · has stdin · number of words · words… · variables… · folder + newline · .
 */
export interface CallerRequest {
  /** Version of the client that asks. */
  readonly version: string
  readonly pid: number
  readonly parentPid: number
  /** Whether talk is read by a person. */
  readonly talksToTerminal: boolean
  /** What was piped in lies in a file beside the request. */
  readonly hasStdin: boolean
  readonly argv: readonly string[]
  /** The variables of {@link PASSED_VARIABLES} that the caller has. */
  readonly env: Environment
  /** Absolute, links resolved. */
  readonly folder: string
}

/** The only part of the caller's environment that reaches the resident; `bin/turnback` names the same. */
export const PASSED_VARIABLES = [
  'HOME',
  'TURNBACK_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'NO_COLOR',
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_PID',
  'COPILOT_HOME',
  'TURNBACK_TASK',
  'TURNBACK_TURN',
  'TURNBACK_RECORDED',
] as const

/** The commands that callers bring here; `bin/turnback` has the same list. */
export const SERVED: ReadonlySet<string> = new Set([
  'hook',
  'begin',
  'end',
  'event',
  'preview',
  'restore',
  'undo',
  'redo',
])
const FORMAT = '1'
const END = '.'

/** Null for a request that is cut short or not in this form. */
export function parseRequest(bytes: Buffer): CallerRequest | null {
  // What is not UTF-8 becomes U+FFFD, as it does in `process.argv`.
  const fields = bytes.toString('utf8').split('\0')
  const [format, version, pid, parentPid, terminals, hasStdin, words, ...rest] = fields
  const count = Number(words)
  if (
    format !== FORMAT ||
    version === undefined ||
    !isNumber(pid) ||
    !isNumber(parentPid) ||
    !isNumber(words)
  )
    return null
  if (rest.length !== count + PASSED_VARIABLES.length + 2 || rest.at(-1) !== END) return null
  const folder = rest.at(-2) ?? ''
  if (!folder.startsWith('/') || !folder.endsWith('\n')) return null
  return {
    version,
    pid: Number(pid),
    parentPid: Number(parentPid),
    talksToTerminal: terminals?.includes('2') ?? false,
    hasStdin: hasStdin === '1',
    argv: rest.slice(0, count),
    env: parseVariables(rest.slice(count, -2)),
    folder: folder.slice(0, -1),
  }
}

function isNumber(field: string | undefined): boolean {
  return field !== undefined && /^\d{1,10}$/.test(field)
}

/** `NAME=value` each, or empty for one that is not set. */
function parseVariables(fields: readonly string[]): Environment {
  const env: Record<string, string> = {}
  for (const name of PASSED_VARIABLES) {
    const found = fields.find((field) => field.startsWith(`${name}=`))
    if (found !== undefined) env[name] = found.slice(name.length + 1)
  }
  return env
}
