import { join } from 'node:path'
import { pluginText } from '#adapters/opencode/plugin.ts'
import type { AgentSetup, SetupFacts } from '#setup/setup.ts'

function folder({ env, user, level, project }: SetupFacts): string {
  if (level === 'project' && project !== null) return join(project, '.opencode')
  return join(env.XDG_CONFIG_HOME || join(user, '.config'), 'opencode')
}

/** The one of its settings files that is there. */
function settingsFile(at: string, { exists }: SetupFacts): string {
  const files = ['opencode.jsonc', 'opencode.json'].map((name) => join(at, name))
  return files.find(exists) ?? join(at, 'opencode.json')
}

export const setup: AgentSetup = {
  name: 'opencode',
  title: 'OpenCode',
  programs: ['opencode'],
  folder,
  files(facts) {
    const { program, mcp } = facts
    const at = folder(facts)
    const server = { type: 'local', command: [program, 'mcp'], enabled: true }
    return [
      // This folder's name is the one that older versions know too.
      { file: join(at, 'plugin/turnback.js'), edits: [{ kind: 'whole', text: pluginText(program) }] },
      ...(mcp
        ? [
            {
              file: settingsFile(at, facts),
              edits: [{ kind: 'member' as const, path: ['mcp', 'turnback'], value: server }],
            },
          ]
        : []),
    ]
  },
  notes: () => ['Sessions that are open have read their plugins already: start OpenCode anew.'],
}
