import type { Adapter, AgentName } from './adapter.ts'

/** Each is loaded when its agent speaks. */
const ADAPTERS: Readonly<Record<AgentName, () => Promise<Adapter>>> = {
  'claude-code': async () => (await import('#adapters/claude-code/payload.ts')).claudeCode,
  codex: async () => (await import('#adapters/codex/payload.ts')).codex,
  opencode: async () => (await import('#adapters/opencode/payload.ts')).opencode,
  'gemini-cli': async () => (await import('#adapters/gemini-cli/payload.ts')).geminiCli,
  'copilot-cli': async () => (await import('#adapters/copilot-cli/payload.ts')).copilotCli,
  cursor: async () => (await import('#adapters/cursor/payload.ts')).cursor,
}

export function loadAdapter(name: AgentName): Promise<Adapter> {
  return ADAPTERS[name]()
}
