import { DomainError } from '@turnback/core'
import { AGENTS } from '#adapters/adapter.ts'
import { findHome } from '#config.ts'
import type { Home } from '#ports.ts'
import { carryOut, isChange } from '#setup/change-settings.ts'
import { inspectAgent } from '#setup/inspect-agent.ts'
import { planAgent, trustCodexHooks } from '#setup/install-agent.ts'
import { findOnPath } from '#setup/run-program.ts'
import { diffSettings } from '#setup/settings-diff.ts'
import type { AgentSetup, SetupFacts } from '#setup/setup.ts'
import { getSetup, listSetups } from '#setup/setups.ts'
import { findTrust } from '#setup/trust.ts'
import type { Context, Register } from './context.ts'
import { exitOf } from './exit-code.ts'
import { findLastFired, findSetupFacts } from './setup-facts.ts'

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
    .argument('[agent]', `${AGENTS.join(', ')}; without it, says which are here`)
    .option('--project', 'in this project’s own settings, which its repository holds, instead of yours')
    .option('--all', 'for every agent that is here')
    .option('--dry-run', 'show what would change, and change nothing')
    .option('--mcp', 'offer the agent the MCP server too')
    .option('--trust', 'tell Codex that you trust these hooks')
    .description('have an agent tell of its turns, by hooks in its settings')
    .action(async (name: string | undefined, options: InstallOptions) => {
      const facts = findSetupFacts(context, options.project ? 'project' : 'user', options.mcp ?? false)
      if (options.trust === true && name !== 'codex' && options.all !== true)
        throw new DomainError('USAGE', { trust: name ?? '' }, { message: '--trust is for Codex only.' })
      if (name !== undefined) {
        const installed = await install(context, await getSetup(name), facts, options)
        show(context, installed)
        return
      }
      const here = (await listSetups()).filter((setup) => isHere(setup, facts))
      if (options.all === true) await installAll(context, here, facts, options)
      else tellWhatIsHere(context, here, facts)
    })
}

function isHere(setup: AgentSetup, facts: SetupFacts): boolean {
  return findOnPath(setup.programs, facts) !== null || facts.exists(setup.folder({ ...facts, level: 'user' }))
}

interface Installed {
  readonly result: object
  readonly words: string
  /** What a dry run would change, as it is. */
  readonly diff: string | null
}

function show(context: Context, { result, words, diff }: Installed): void {
  if (diff === null || diff === '' || context.isJson) context.print(result, () => words)
  else context.printBytes(Buffer.from(diff))
}

async function install(
  context: Context,
  setup: AgentSetup,
  facts: SetupFacts,
  options: InstallOptions,
): Promise<Installed> {
  const home = findHome(context.env)
  const { changes, taken } = planAgent(home, setup, facts)
  const isDryRun = options.dryRun === true
  const diff = changes.map(diffSettings).join('')
  if (!isDryRun) carryOut(home, changes)
  const folder = facts.level === 'project' && facts.project !== null ? facts.project : context.folder
  const codex = setup.name === 'codex' ? findOnPath(setup.programs, facts) : null
  if (options.trust === true && codex !== null && !isDryRun)
    await trustCodexHooks(home, codex, facts, setup, folder)
  const { trusted, words } = isDryRun ? { trusted: null, words: null } : await findTrust(setup, facts, folder)
  const isTrustAsked = options.trust === true && setup.name === 'codex'
  const notes = [
    ...(isTrustAsked && codex === null ? ['`codex` is not on the PATH, so nothing could be trusted.'] : []),
    ...(words === null ? [] : [words]),
    ...taken.map((file) => `${file} is somebody else’s and stays; the command of that name is not there.`),
    ...setup.notes(facts),
  ]
  const changed = changes.filter(isChange).map(({ now }) => now.file)
  const result = {
    agent: setup.name,
    files: changes.map(({ now }) => now.file),
    installed: !isDryRun || changed.length === 0,
    trusted,
    lastFired: findLastFired(context, setup.name),
    ...{ changed, notes },
    ...(isDryRun ? { dryRun: true, diff } : {}),
  }
  const lines = changes.map(
    ({ now }) => `  ${changed.includes(now.file) ? 'written  ' : 'unchanged'} ${now.file}`,
  )
  const told = [HEADS[`${trusted}`](setup.title), ...lines, ...notes].join('\n')
  if (!isDryRun) return { result, words: told, diff: null }
  return { result, words: `${setup.title}: nothing would change.`, diff }
}

async function installAll(
  context: Context,
  here: readonly AgentSetup[],
  facts: SetupFacts,
  options: InstallOptions,
): Promise<void> {
  const installed: Installed[] = []
  for (const setup of here) installed.push(await installOrSay(context, setup, facts, options))
  if (context.isJson || installed.length === 0)
    context.print({ agents: installed.map(({ result }) => result) }, () => NONE)
  else for (const each of installed) show(context, each)
}

/** What stands in the way of one agent is no reason to leave out the others. */
async function installOrSay(
  context: Context,
  setup: AgentSetup,
  facts: SetupFacts,
  options: InstallOptions,
): Promise<Installed> {
  try {
    return await install(context, setup, facts, options)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    context.exitCode = exitOf(error.code)
    return {
      result: { agent: setup.name, installed: false, ...inResult(error) },
      words: inWords(setup, error),
      diff: null,
    }
  }
}

function inResult({ code, message, details }: DomainError): object {
  return { error: { code, message, details } }
}

function inWords({ title }: AgentSetup, { message, remedy }: DomainError): string {
  return `${title}: ${message} ${remedy}`
}

/** By whether the agent runs the hooks; null when that could not be found out. */
const HEADS = {
  true: (title: string) => `${title} tells Turnback of its turns from now on.`,
  false: (title: string) => `${title} has the hooks in its settings, and runs none of them here yet:`,
  null: (title: string) => `${title} has the hooks in its settings:`,
}

const NONE = `No agent was found here, neither its program on the PATH nor its settings. Known are: ${AGENTS.join(', ')}. \`turnback install NAME\` prepares the settings of one all the same.`

function lookAt(
  context: Context,
  home: Home,
  setup: AgentSetup,
  facts: SetupFacts,
): { readonly result: object; readonly words: string } {
  const { name, title } = setup
  const program = findOnPath(setup.programs, facts)
  const lastFired = findLastFired(context, name)
  try {
    const { changes } = planAgent(home, setup, facts)
    const files = changes.map(({ now }) => now.file)
    const installed = inspectAgent(setup, facts) !== null && !changes.some(isChange)
    const words = `${installed ? 'installed    ' : 'not installed'} ${title}: \`turnback install ${name}\` writes ${files.join(', ')}`
    return { result: { agent: name, title, program, files, installed, lastFired }, words }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return {
      result: { agent: name, title, program, installed: false, lastFired, ...inResult(error) },
      words: inWords(setup, error),
    }
  }
}

function tellWhatIsHere(context: Context, here: readonly AgentSetup[], facts: SetupFacts): void {
  const home = findHome(context.env)
  const looked = here.map((setup) => lookAt(context, home, setup, facts))
  context.print({ agents: looked.map(({ result }) => result) }, () => {
    if (looked.length === 0) return NONE
    return [
      ...looked.map(({ words }) => words),
      'All of them at once: `turnback install --all`; to see it first: `--dry-run`.',
    ].join('\n')
  })
}
