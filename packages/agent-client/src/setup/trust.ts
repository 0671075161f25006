import { join } from 'node:path'
import { listCodexHooks } from './codex-trust.ts'
import { isGeminiFolderTrusted } from './gemini-trust.ts'
import type { JsonPath } from './json-text.ts'
import { readValue } from './read-value.ts'
import { findOnPath } from './run-program.ts'
import type { AgentSetup, Level, SetupFacts } from './setup.ts'

/** Whether an agent runs the hooks that its settings hold. */
export interface Trust {
  /** Null: it could not be found out. */
  readonly trusted: boolean | null
  /** What a person has to know, or do, for it; null when nothing. */
  readonly words: string | null
}

const TRUSTED: Trust = { trusted: true, words: null }

const isOurs = (names: unknown): boolean => Array.isArray(names) && names.includes('turnback')

/** The settings, of the user or of the project, that say so; null when none do. */
function findSwitchedOff(
  setup: AgentSetup,
  facts: SetupFacts,
  name: string,
  path: JsonPath,
  isOff: (value: unknown) => boolean,
): string | null {
  const levels: Level[] = facts.project === null ? ['user'] : ['user', 'project']
  const files = levels.map((level) => join(setup.folder({ ...facts, level }), name))
  return files.find((file) => isOff(readValue(file, path))) ?? null
}

/** @param folder where the agent would be started */
export async function findTrust(setup: AgentSetup, facts: SetupFacts, folder: string): Promise<Trust> {
  switch (setup.name) {
    case 'claude-code': {
      const off = findSwitchedOff(
        setup,
        facts,
        'settings.json',
        ['disableAllHooks'],
        (value) => value === true,
      )
      return off === null
        ? TRUSTED
        : { trusted: false, words: `\`disableAllHooks\` in ${off} switches all hooks off.` }
    }
    case 'opencode':
      return TRUSTED
    case 'copilot-cli':
    case 'cursor':
      return { trusted: facts.level === 'user' ? true : null, words: null }
    case 'gemini-cli': {
      const off =
        findSwitchedOff(
          setup,
          facts,
          'settings.json',
          ['hooksConfig', 'enabled'],
          (value) => value === false,
        ) ?? findSwitchedOff(setup, facts, 'settings.json', ['hooksConfig', 'disabled'], isOurs)
      if (off !== null) return { trusted: false, words: `\`hooksConfig\` in ${off} switches the hooks off.` }
      const trusted = isGeminiFolderTrusted(facts, setup.folder({ ...facts, level: 'user' }), folder)
      const words = `Gemini CLI does not trust ${folder}, so it runs no hooks there: start it there and choose to trust the folder.`
      return { trusted, words: trusted === true ? null : words }
    }
    case 'codex':
      return findCodexTrust(setup, facts, folder)
  }
}

async function findCodexTrust(setup: AgentSetup, facts: SetupFacts, folder: string): Promise<Trust> {
  const how =
    'Codex runs no hook before you trust it, and says nothing when it runs none: start `codex` and approve them in `/hooks`, or have it done by `turnback install codex --trust`.'
  const codex = findOnPath(setup.programs, facts)
  if (codex === null) return { trusted: null, words: how }
  const hooks = await listCodexHooks(codex, facts, folder)
  if (hooks === null) return { trusted: null, words: `Codex did not say whether it trusts the hooks. ${how}` }
  if (hooks.some(({ isEnabled }) => !isEnabled))
    return {
      trusted: false,
      words: 'Hooks of Turnback are switched off in Codex: `/hooks` there switches them on.',
    }
  const trusted = hooks.length > 0 && hooks.every(({ isTrusted }) => isTrusted)
  return { trusted, words: trusted ? null : how }
}
