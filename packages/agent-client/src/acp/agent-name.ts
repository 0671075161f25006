import { AGENTS } from '#adapters/adapter.ts'

/**
 * An agent as it is named everywhere here, so that its turns are found together, however they were recorded: by what it
 * calls itself, or by its program. One that is not known keeps its own name.
 */
export function agentNameOf(said: string): string {
  const words = said.slice(said.lastIndexOf('/') + 1).toLowerCase()
  return AGENTS.find((name) => words.includes(name.split('-')[0] ?? name)) ?? said
}
