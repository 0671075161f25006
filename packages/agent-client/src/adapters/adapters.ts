import type { Adapter, AgentName } from './adapter.ts'

/** Each is loaded when its agent speaks. */
const ADAPTERS: Readonly<Partial<Record<AgentName, () => Promise<Adapter>>>> = {
  'claude-code': async () => (await import('#adapters/claude-code/payload.ts')).claudeCode,
}

export async function loadAdapter(name: AgentName): Promise<Adapter | null> {
  return (await ADAPTERS[name]?.()) ?? null
}
