import { findHome } from '#config.ts'
import { type Change, carryOut, isChange, planUninstall } from '#setup/change-settings.ts'
import type { AgentSetup, SetupFacts } from '#setup/setup.ts'
import { getSetup } from '#setup/setups.ts'
import type { Register } from './context.ts'
import { findSetupFacts } from './setup-facts.ts'

interface UninstallOptions {
  readonly project?: boolean
  readonly dryRun?: boolean
}

export const register: Register = (program, context) => {
  program
    .command('uninstall')
    .argument('<agent>', 'whose settings are to call this program no more')
    .option('--project', 'only in this project’s own settings; else in yours too')
    .description('take out of an agent’s settings what `install` put there, and nothing else')
    .action(async (name: string, options: UninstallOptions) => {
      const setup = await getSetup(name)
      const home = findHome(context.env)
      const facts = findSetupFacts(context, options.project ? 'project' : 'user', true)
      const changes = listFiles(setup, facts).map(([file, edits]) => planUninstall(home, file, edits))
      for (const change of changes) carryOut(home, change)
      const changed = changes.filter(isChange)
      const result = {
        agent: setup.name,
        files: changed.map(({ now }) => now.file),
        installed: false,
        trusted: false,
        lastFired: context.deps.log.findFact(`fired:${setup.name}`),
      }
      context.print(result, () =>
        changed.length === 0
          ? `${setup.title} did not call Turnback.`
          : [`${setup.title} calls Turnback no more.`, ...changed.map(inWords)].join('\n'),
      )
    })
}

function listFiles(
  setup: AgentSetup,
  facts: SetupFacts,
): [string, ReturnType<AgentSetup['files']>[number]['edits']][] {
  const levels =
    facts.level === 'project' || facts.project === null ? [facts.level] : (['user', 'project'] as const)
  return levels.flatMap((level) => setup.files({ ...facts, level })).map(({ file, edits }) => [file, edits])
}

function inWords({ now, after }: Change): string {
  return `${after === null ? 'removed' : 'written'} ${now.file}`
}
