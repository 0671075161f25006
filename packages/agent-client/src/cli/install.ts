import { findHome } from '#config.ts'
import type { Home } from '#ports.ts'
import { type Change, carryOut, isChange, planInstall } from '#setup/change-settings.ts'
import { diffSettings } from '#setup/settings-diff.ts'
import type { AgentSetup, SetupFacts } from '#setup/setup.ts'
import { getSetup } from '#setup/setups.ts'
import type { Context, Register } from './context.ts'
import { findSetupFacts } from './setup-facts.ts'

interface InstallOptions {
  readonly project?: boolean
  readonly dryRun?: boolean
  readonly mcp?: boolean
}

export const register: Register = (program, context) => {
  program
    .command('install')
    .argument('<agent>', 'whose settings are to call this program')
    .option('--project', 'in this project’s own settings instead of yours')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--mcp', 'offer the agent the MCP server too')
    .description('have an agent tell of its turns, by hooks in its settings')
    .action(async (name: string, options: InstallOptions) => {
      const setup = await getSetup(name)
      const facts = findSetupFacts(context, options.project ? 'project' : 'user', options.mcp ?? false)
      const changes = planAll(findHome(context.env), setup, facts)
      if (options.dryRun !== true) for (const change of changes) carryOut(findHome(context.env), change)
      tell(context, { setup, facts, changes, isDryRun: options.dryRun === true })
    })
}

function planAll(home: Home, setup: AgentSetup, facts: SetupFacts): Change[] {
  const every = setup.files({ ...facts, mcp: true })
  return setup.files(facts).map(({ file, edits }) =>
    planInstall(home, {
      ...{ agent: setup.name, level: facts.level, file, edits },
      every: every.find((each) => each.file === file)?.edits ?? edits,
    }),
  )
}

interface Told {
  readonly setup: AgentSetup
  readonly facts: SetupFacts
  readonly changes: readonly Change[]
  readonly isDryRun: boolean
}

function tell(context: Context, { setup, facts, changes, isDryRun }: Told): void {
  const diff = changes.map(diffSettings).join('')
  const notes = setup.notes(facts)
  const result = {
    agent: setup.name,
    files: changes.map(({ now }) => now.file),
    changed: changes.filter(isChange).map(({ now }) => now.file),
    installed: !isDryRun || !changes.some(isChange),
    trusted: true,
    lastFired: context.deps.log.findFact(`fired:${setup.name}`),
    ...(isDryRun ? { dryRun: true, diff } : {}),
    notes,
  }
  context.print(result, () => {
    if (isDryRun) return diff === '' ? 'Nothing would change.' : diff.trimEnd()
    const lines = changes.map(
      (change) => `${isChange(change) ? 'written  ' : 'unchanged'} ${change.now.file}`,
    )
    return [`${setup.title} tells Turnback of its turns now.`, ...lines, ...notes].join('\n')
  })
}
