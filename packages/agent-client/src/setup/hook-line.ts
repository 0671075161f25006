import type { AgentName } from '#adapters/adapter.ts'

/** For agents whose hooks, when they cannot be started, stop the agent: a checkout that was moved must not. */
export function harmless(line: string): string {
  return `${line} || true`
}

/** What an agent's settings call. Quoted always, so that blanks, quotes and `$` in the path are only letters. */
export function hookLine(program: string, agent: AgentName, event: string | null = null): string {
  const words = [`'${program.replaceAll("'", `'\\''`)}'`, 'hook', agent]
  return [...words, ...(event === null ? [] : [event])].join(' ')
}

/** One word of a shell, quoted or plain; a blank; `hook`, and an agent. Whatever a shell would make more of is no line of ours. */
const LINE =
  /^((?:'[^']*'|"(?:[^"\\$`]|\\.)*"|\\.|[^\s'"\\;&|<>()$`])+) hook ([\w-]+)(?: ([\w.-]+))?(?: \|\| true)?$/

/** The program that a line of ours starts, whichever checkout it is of; null for anybody else's line. */
export function parseHookLine(
  line: unknown,
  agent: AgentName,
): { program: string; event: string | null } | null {
  if (typeof line !== 'string') return null
  const [, word = '', named, event = null] = LINE.exec(line) ?? []
  const program = unquote(word)
  return named === agent && /(^|\/)turnback$/.test(program) ? { program, event } : null
}

function unquote(word: string): string {
  return word.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) =>
    String(single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped),
  )
}
