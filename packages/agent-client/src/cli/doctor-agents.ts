import { randomBytes } from 'node:crypto'
import { DomainError } from '@turnback/core'
import type { AgentName } from '#adapters/adapter.ts'
import type { ClientDeps } from '#deps.ts'
import { type Inspection, inspectAgent } from '#setup/inspect-agent.ts'
import { findOnPath, runProgram } from '#setup/run-program.ts'
import { fireLine } from '#setup/self-test.ts'
import type { AgentSetup, Level, SetupFacts } from '#setup/setup.ts'
import { listSetups } from '#setup/setups.ts'
import { findTrust, type Trust } from '#setup/trust.ts'
import type { Context } from './context.ts'
import type { Finding } from './doctor.ts'
import { findSetupFacts } from './setup-facts.ts'

/** Some unpack themselves when they are first asked. */
const VERSION_MS = 5000

interface AgentFacts {
  readonly agent: AgentName
  /** Where its program is; null when it is not on the PATH. */
  readonly program: string | null
  readonly version: string | null
  /** Settings that hold something of ours. */
  readonly files: readonly string[]
  readonly levels: readonly Level[]
  /** Every event is heard, and what the lines start is there. */
  readonly installed: boolean
  /** Null: it could not be found out, or nothing is installed. */
  readonly trusted: boolean | null
  readonly lastFired: string | null
  /** Whether each line, started as the agent would, has reached the store; null when there is none. */
  readonly fires: boolean | null
}

export interface ExaminedAgents {
  readonly facts: readonly AgentFacts[]
  readonly findings: readonly Finding[]
}

/** How each agent that is here stands with us. Its program is started only to say its version, and Codex to say whom it trusts. */
export async function examineAgents(
  context: Context,
  opened: ClientDeps | DomainError,
): Promise<ExaminedAgents> {
  const deps = opened instanceof DomainError ? null : opened
  const user = findSetupFacts(context, 'user', false)
  const examined = await Promise.all(
    (await listSetups()).map((setup) => examineAgent(context, setup, user, deps)),
  )
  return {
    facts: examined.flatMap((one) => (one === null ? [] : [one.facts])),
    findings: examined.flatMap((one) => (one === null ? [] : [one.finding])),
  }
}

/** All that was found out about one agent. */
interface Gathered {
  readonly setup: AgentSetup
  readonly facts: AgentFacts
  readonly found: readonly Inspection[]
  readonly trust: Trust
  /** What went wrong when its lines were started. */
  readonly misfires: readonly string[]
}

/** Null when it is not here. */
async function examineAgent(
  context: Context,
  setup: AgentSetup,
  user: SetupFacts,
  deps: ClientDeps | null,
): Promise<{ facts: AgentFacts; finding: Finding } | null> {
  const program = findOnPath(setup.programs, user)
  const levels: Level[] = user.project === null ? ['user'] : ['user', 'project']
  const found = levels.flatMap((level) => inspectAgent(setup, { ...user, level }) ?? [])
  if (program === null && found.length === 0 && !user.exists(setup.folder(user))) return null
  const [first] = found
  const isReadable = first !== undefined && first.trouble === null
  const trust = isReadable
    ? await findTrust(setup, { ...user, level: first.level }, context.folder)
    : { trusted: null, words: null }
  const lines = [...new Set(found.flatMap((each) => each.lines))]
  const misfires = deps === null ? [] : await fireAll(context, setup.name, lines, deps)
  const facts: AgentFacts = {
    ...{ agent: setup.name, program, levels: found.map(({ level }) => level) },
    version: program === null ? null : await findVersion(program, user),
    files: found.flatMap(({ files }) => files),
    installed: found.some((each) => each.trouble === null && each.missing.length + each.gone.length === 0),
    trusted: trust.trusted,
    lastFired: deps?.log.findFact(`fired:${setup.name}`) ?? null,
    fires: deps === null || lines.length === 0 ? null : misfires.length === 0,
  }
  return { facts, finding: judge({ setup, facts, found, trust, misfires }) }
}

async function fireAll(
  context: Context,
  agent: AgentName,
  lines: readonly string[],
  deps: ClientDeps,
): Promise<string[]> {
  const wrong: string[] = []
  for (const line of lines) {
    const why = await fireLine(line, {
      ...{ agent, env: context.env, folder: context.folder },
      findFact: (key) => deps.log.findFact(key),
      makeNonce: () => randomBytes(12).toString('hex'),
    })
    if (why !== null) wrong.push(`${line} ${why}`)
  }
  return wrong
}

function judge({ setup, facts, found, trust, misfires }: Gathered): Finding {
  const name = `${setup.title}${facts.version === null ? '' : ` ${facts.version}`}`
  const isProject = found[0]?.level === 'project'
  const install = `\`turnback install ${setup.name}${isProject ? ' --project' : ''}\``
  const well = (words: string, remedy: string | null) => ({
    isWell: true,
    words: `${name}: ${words}`,
    remedy,
  })
  const trouble = (words: string, remedy: string | null) => ({
    isWell: false,
    words: `${name}: ${words}`,
    remedy,
  })
  if (found.length === 0) return well('does not tell of its turns', `${install} has it do so.`)
  const unreadable = found.flatMap((each) => each.trouble ?? [])[0]
  if (unreadable !== undefined) return trouble(unreadable, 'Put it right, then run `turnback doctor` again.')
  const gone = found.flatMap((each) => each.gone)
  if (gone.length > 0)
    return trouble(
      `its settings call ${gone.join(', ')}, which is not there any more`,
      `${install} has it call this checkout.`,
    )
  const missing = found.flatMap((each) => each.missing)
  if (missing.length > 0) return trouble(`does not tell of ${missing.join(', ')}`, `${install} completes it.`)
  const strange = found.flatMap((each) => each.strange)
  if (strange.length > 0)
    return well(
      `this project’s settings call ${strange.join(', ')}, which was not started to try it`,
      `${install} has them call this checkout.`,
    )
  const [misfire] = misfires
  if (misfire !== undefined)
    return trouble(`its hook does not work: ${misfire}`, 'What hooks meet with is written in hooks.log.')
  if (trust.trusted === false) return trouble('does not trust the hooks, so it runs none', trust.words)
  // Without a store there is nothing that a hook could reach.
  const tried = facts.fires === null ? 'its hook was not tried' : 'its hook works'
  const last = facts.lastFired === null ? 'no turn was told yet' : `last turn told ${facts.lastFired}`
  const where = found
    .map(({ level }) => (level === 'user' ? 'your settings' : 'this project’s'))
    .join(' and ')
  const isCurrent = found.every((each) => each.isCurrent)
  return well(
    `tells of its turns, by ${where}; ${tried}; ${last}`,
    isCurrent ? trust.words : `${install} brings its settings up to date.`,
  )
}

/** What it says of itself, asked where no project's files can have a say in it; null when it says nothing in time. */
async function findVersion(program: string, { env, user: folder }: SetupFacts): Promise<string | null> {
  const { out } = await runProgram({
    program,
    args: ['--version'],
    env,
    folder,
    input: '',
    limitMs: VERSION_MS,
  })
  return /\d+\.\d+\.\d+[\w.+-]*/.exec(out)?.[0] ?? null
}
