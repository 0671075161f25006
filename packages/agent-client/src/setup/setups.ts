import { DomainError } from '@turnback/core'
import { AGENTS, type AgentName } from '#adapters/adapter.ts'
import type { AgentSetup } from './setup.ts'

const SETUPS: Readonly<Record<AgentName, () => Promise<{ readonly setup: AgentSetup }>>> = {
  'claude-code': () => import('#adapters/claude-code/setup.ts'),
  codex: () => import('#adapters/codex/setup.ts'),
  opencode: () => import('#adapters/opencode/setup.ts'),
  'gemini-cli': () => import('#adapters/gemini-cli/setup.ts'),
  'copilot-cli': () => import('#adapters/copilot-cli/setup.ts'),
  cursor: () => import('#adapters/cursor/setup.ts'),
}

/** @throws USAGE with the names that there are, and the one that is likely meant */
export async function getSetup(name: string): Promise<AgentSetup> {
  const known = AGENTS.find((each) => each === name)
  if (known !== undefined) return (await SETUPS[known]()).setup
  // Its program is often called by another name: `claude`, `copilot`.
  const meant = (await listSetups()).find(
    (setup) => setup.programs.includes(name) || (name !== '' && setup.name.startsWith(name)),
  )
  const hint = meant === undefined ? '' : ` Do you mean ${meant.name}?`
  const message = `There is no agent ${JSON.stringify(name)}.${hint}`
  throw new DomainError('USAGE', { agent: name, known: [...AGENTS] }, { message })
}

export async function listSetups(): Promise<AgentSetup[]> {
  const loaded = await Promise.all(AGENTS.map((name) => SETUPS[name]()))
  return loaded.map(({ setup }) => setup)
}
