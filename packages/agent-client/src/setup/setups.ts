import { DomainError } from '@turnback/core'
import { AGENT_NAMES, type AgentName, type AgentSetup } from './setup.ts'

const SETUPS: Partial<Record<AgentName, () => Promise<{ readonly setup: AgentSetup }>>> = {
  'claude-code': () => import('#adapters/claude-code/setup.ts'),
}

/** @throws USAGE with the names that there are */
export async function getSetup(name: string): Promise<AgentSetup> {
  const known = AGENT_NAMES.find((each) => each === name)
  const load = known === undefined ? undefined : SETUPS[known]
  if (load === undefined) {
    const message = `There is no agent ${JSON.stringify(name)}. Known are: ${Object.keys(SETUPS).join(', ')}.`
    throw new DomainError('USAGE', { agent: name, known: Object.keys(SETUPS) }, { message })
  }
  return (await load()).setup
}

export async function listSetups(): Promise<AgentSetup[]> {
  const loaded = await Promise.all(Object.values(SETUPS).map((load) => load()))
  return loaded.map(({ setup }) => setup)
}
