import { AGENTS } from '#adapters/adapter.ts'
import { findHome } from '#config.ts'
import { type Change, carryOut, isChange } from '#setup/change-settings.ts'
import { planRemoval } from '#setup/install-agent.ts'
import { listRecords } from '#setup/install-record.ts'
import { diffSettings } from '#setup/settings-diff.ts'
import { getSetup } from '#setup/setups.ts'
import type { Context, Register } from './context.ts'
import { findLastFired, findSetupFacts } from './setup-facts.ts'

interface UninstallOptions {
  readonly project?: boolean
  readonly dryRun?: boolean
}

export const register: Register = (program, context) => {
  program
    .command('uninstall')
    .argument('<agent>', AGENTS.join(', '))
    .option('--project', 'only in this project’s own settings; else in yours too')
    .option('--dry-run', 'show what would change, and change nothing')
    .description('take out of an agent’s settings what `install` put there, and nothing else')
    .action(async (name: string, options: UninstallOptions) => {
      await uninstall(context, name, options)
    })
}

async function uninstall(context: Context, name: string, options: UninstallOptions): Promise<void> {
  const setup = await getSetup(name)
  const home = findHome(context.env)
  const facts = findSetupFacts(context, options.project ? 'project' : 'user', true)
  const isBoth = options.project !== true && facts.project !== null
  const changes = planRemoval(home, setup, facts, isBoth ? ['user', 'project'] : [facts.level])
  const isDryRun = options.dryRun === true
  const diff = changes.map(diffSettings).join('')
  const changed = changes.filter(isChange)
  if (!isDryRun) carryOut(home, changes)
  // In other projects, or where a variable led to another folder then.
  const left = listRecords(home).filter(
    ({ agent, real }) => agent === setup.name && !changes.some(({ now }) => now.real === real),
  )
  const result = {
    agent: setup.name,
    files: changed.map(({ now }) => now.file),
    installed: isDryRun && changed.length > 0,
    trusted: false,
    lastFired: findLastFired(context, setup.name),
    left: left.map(({ file }) => file),
    ...(isDryRun ? { dryRun: true, diff } : {}),
  }
  if (isDryRun && diff !== '' && !context.isJson) return context.printBytes(Buffer.from(diff))
  context.print(result, () => {
    if (isDryRun) return 'Nothing would change.'
    const head =
      changed.length === 0
        ? `${setup.title} did not call Turnback.`
        : `${setup.title} calls Turnback no more.`
    return [
      head,
      ...changed.map(inWords),
      ...left.map(({ file }) => `  left      ${file} (of another project or folder)`),
    ].join('\n')
  })
}

function inWords({ now, after }: Change): string {
  return `  ${after === null ? 'removed  ' : 'written  '} ${now.file}`
}
