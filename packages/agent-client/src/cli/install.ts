import { findHome } from '#config.ts'
import { carryOut, isChange } from '#setup/change-settings.ts'
import { inspectAgent } from '#setup/inspect-agent.ts'
import { planAgent, trustCodexHooks } from '#setup/install-agent.ts'
import { findOnPath } from '#setup/run-program.ts'
import { diffSettings } from '#setup/settings-diff.ts'
import type { AgentSetup, SetupFacts } from '#setup/setup.ts'
import { getSetup, listSetups } from '#setup/setups.ts'
import { findTrust } from '#setup/trust.ts'
import type { Context, Register } from './context.ts'
import { findSetupFacts } from './setup-facts.ts'

interface InstallOptions {
  readonly project?: boolean
  readonly dryRun?: boolean
  readonly mcp?: boolean
  readonly trust?: boolean
  readonly all?: boolean
}

export const register: Register = (program, context) => {
  program
    .command('install')
    .argument('[agent]', 'whose settings are to call this program; without it, which agents are here is said')
    .option('--project', 'in this project’s own settings instead of yours')
    .option('--all', 'for every agent that is here')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--mcp', 'offer the agent the MCP server too')
    .option('--trust', 'tell Codex that you trust these hooks')
    .description('have an agent tell of its turns, by hooks in its settings')
    .action(async (name: string | undefined, options: InstallOptions) => {
      const facts = findSetupFacts(context, options.project ? 'project' : 'user', options.mcp ?? false)
      if (name !== undefined) {
        const installed = await install(context, await getSetup(name), facts, options)
        context.print(installed.result, () => installed.words)
        return
      }
      const here = (await listSetups()).filter((setup) => isHere(setup, facts))
      if (options.all === true) await installAll(context, here, facts, options)
      else tellWhatIsHere(context, here, facts)
    })
}

function isHere(setup: AgentSetup, facts: SetupFacts): boolean {
  return (
    findOnPath(setup.programs, facts.env) !== null || facts.exists(setup.folder({ ...facts, level: 'user' }))
  )
}

interface Installed {
  readonly result: object
  readonly words: string
}

async function install(
  context: Context,
  setup: AgentSetup,
  facts: SetupFacts,
  options: InstallOptions,
): Promise<Installed> {
  const home = findHome(context.env)
  const changes = planAgent(home, setup, facts)
  const isDryRun = options.dryRun === true
  const diff = changes.map(diffSettings).join('')
  if (!isDryRun) carryOut(home, changes)
  const folder = facts.level === 'project' && facts.project !== null ? facts.project : context.folder
  const codex = setup.name === 'codex' ? findOnPath(setup.programs, facts.env) : null
  if (options.trust === true && codex !== null && !isDryRun)
    await trustCodexHooks(home, codex, facts, setup, folder)
  const { trusted, words } = isDryRun ? { trusted: null, words: null } : await findTrust(setup, facts, folder)
  const notes = [...(words === null ? [] : [words]), ...setup.notes(facts)]
  const changed = changes.filter(isChange).map(({ now }) => now.file)
  const result = {
    agent: setup.name,
    files: changes.map(({ now }) => now.file),
    installed: !isDryRun || changed.length === 0,
    trusted,
    lastFired: context.deps.log.findFact(`fired:${setup.name}`),
    ...{ changed, notes },
    ...(isDryRun ? { dryRun: true, diff } : {}),
  }
  const lines = changes.map(
    ({ now }) => `  ${changed.includes(now.file) ? 'written  ' : 'unchanged'} ${now.file}`,
  )
  const told = [`${setup.title} tells Turnback of its turns from now on.`, ...lines, ...notes].join('\n')
  return { result, words: isDryRun ? diff.trimEnd() || `${setup.title}: nothing would change.` : told }
}

async function installAll(
  context: Context,
  here: readonly AgentSetup[],
  facts: SetupFacts,
  options: InstallOptions,
): Promise<void> {
  const installed: Installed[] = []
  for (const setup of here) installed.push(await install(context, setup, facts, options))
  context.print({ agents: installed.map(({ result }) => result) }, () =>
    installed.length === 0 ? NONE : installed.map(({ words }) => words).join('\n\n'),
  )
}

const NONE = 'No agent that is known was found here, neither its program on the PATH nor its settings.'

function tellWhatIsHere(context: Context, here: readonly AgentSetup[], facts: SetupFacts): void {
  const home = findHome(context.env)
  const agents = here.map((setup) => {
    const changes = planAgent(home, setup, facts)
    return {
      ...{ agent: setup.name, title: setup.title, program: findOnPath(setup.programs, facts.env) },
      files: changes.map(({ now }) => now.file),
      installed: inspectAgent(setup, facts) !== null && !changes.some(isChange),
      lastFired: context.deps.log.findFact(`fired:${setup.name}`),
    }
  })
  context.print({ agents }, () => {
    if (agents.length === 0) return NONE
    const lines = agents.map(
      ({ agent, title, installed, files }) =>
        `${installed ? 'installed    ' : 'not installed'} ${title}: \`turnback install ${agent}\` writes ${files.join(', ')}`,
    )
    return [...lines, 'All of them at once: `turnback install --all`; to see it first: `--dry-run`.'].join(
      '\n',
    )
  })
}
