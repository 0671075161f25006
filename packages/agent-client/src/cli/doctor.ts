import { DomainError } from '@turnback/core'
import { CLIENT_VERSION } from '#client-version.ts'
import { type Environment, findHome } from '#config.ts'
import type { ClientDeps } from '#deps.ts'
import { readRights } from '#store/folder-rights.ts'
import { findResident, type ResidentFacts } from '#store/resident-files.ts'
import { findAnchoring, type Grade, gradeOf } from '#worktree/anchored.ts'
import type { Context, Register } from './context.ts'
import { examineAgents } from './doctor-agents.ts'
import { EXIT } from './exit-code.ts'

/** What was looked at, how it is, and what to do when it is not well. */
export interface Finding {
  readonly isWell: boolean
  readonly words: string
  /** The command, or what else helps; null when nothing has to be done. */
  readonly remedy: string | null
}

const GRADES: Readonly<Record<Grade, string>> = {
  A: 'files are reached through held folders: nobody who swaps a folder for a link meanwhile can lead a restore astray',
  B: 'every folder on the way is checked before and after each step: safe from accidents, not from a program that races a restore',
  C: 'every folder on the way is checked, on a system that cannot open files without following links: not safe from a program that races a restore',
}

/** Whether this machine is well. A store is opened as any command opens it, and brought up to date; a store that cannot be opened is a finding, not the end. */
export const register: Register = (program, context) => {
  program
    .command('doctor')
    .description(
      'say how safe restores are on this machine, and whether the store, the resident client and the agents’ hooks are well',
    )
    .action(async () => {
      const containment = examineContainment()
      const opened = openStore(context)
      const store = examineStore(context.env, opened)
      const resident = examineResident(context.env)
      const watcher = examineWatcher(opened, context.env)
      const agents = await examineAgents(context, opened)
      const own = [containment.finding, store.finding, resident.finding, watcher.finding]
      const findings = [...own, ...agents.findings]
      const isWell = findings.every((finding) => finding.isWell)
      if (!isWell) context.exitCode = EXIT.failed
      const { facts: told } = containment
      context.print(
        {
          ...{ ok: isWell, version: CLIENT_VERSION, node: process.version, platform: process.platform },
          ...{ containment: told, store: store.facts, resident: resident.facts, watcher: watcher.facts },
          agents: agents.facts,
          ...{ workspace: opened instanceof DomainError ? null : describeWorkspace(context, opened) },
          problems: findings.flatMap(({ isWell: well, words, remedy }) =>
            well ? [] : [{ what: words, remedy }],
          ),
        },
        () => findings.flatMap(inWords).join('\n'),
      )
    })
}

function inWords({ isWell, words, remedy }: Finding): string[] {
  return [`${isWell ? 'ok     ' : 'TROUBLE'} ${words}`, ...(remedy === null ? [] : [`        ${remedy}`])]
}

interface Examined<Facts> {
  readonly facts: Facts
  readonly finding: Finding
}

function examineContainment(): Examined<{ grade: Grade; by: string; why: string }> {
  const by = findAnchoring()
  const grade = gradeOf(process.platform, by)
  const why = GRADES[grade]
  const isBare = process.platform === 'linux' && grade !== 'A'
  const remedy = isBare ? 'Mount /proc in this container: with it the grade is A.' : null
  return {
    facts: { grade, by, why },
    finding: { isWell: true, words: `containment, grade ${grade}: ${why}`, remedy },
  }
}

function openStore(context: Context): ClientDeps | DomainError {
  try {
    return context.deps
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

interface StoreFacts {
  readonly folder: string
  readonly ok: boolean
  readonly bytes?: number
  readonly budget?: number
  /** Nobody else may look into it. */
  readonly isPrivate?: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

function examineStore(env: Environment, opened: ClientDeps | DomainError): Examined<StoreFacts> {
  const folder = findHome(env).store
  if (opened instanceof DomainError) {
    const { code, message, remedy } = opened
    return {
      facts: { folder, ok: false, error: { code, message } },
      finding: { isWell: false, words: `store ${folder}: ${message} (${code})`, remedy },
    }
  }
  const { isPrivate, isWritable } = readRights(folder)
  const bytes = opened.packs.bytesOnDisk()
  const budget = opened.config.diskBudgetBytes
  const facts = { folder, ok: true, bytes, budget, isPrivate }
  if (!isPrivate)
    return {
      facts,
      finding: {
        isWell: false,
        words: `store ${folder}: others may look into it`,
        remedy: `chmod 700 ${folder}`,
      },
    }
  if (!isWritable) {
    const words = `store ${folder}: you may not write there, so nothing is recorded`
    return {
      facts: { ...facts, ok: false },
      finding: { isWell: false, words, remedy: 'Give the folder back to your user.' },
    }
  }
  const words = `store ${folder}: ${bytes} of ${budget} bytes`
  const isFull = budget > 0 && bytes > budget
  return { facts, finding: { isWell: true, words, remedy: isFull ? '`turnback gc` makes room.' : null } }
}

type Resident = Pick<ResidentFacts, 'serves' | 'watches' | 'link' | 'isOutdated'> & { readonly pid: number }

function examineResident(env: Environment): Examined<Resident | null> {
  const found = findResident(findHome(env).store)
  const connect = '`turnback connect`'
  if (found === null) {
    const words = 'resident client: not running; everything works without it, only slower'
    return { facts: null, finding: { isWell: true, words, remedy: `${connect} starts it.` } }
  }
  const isOutdated = found.isOutdated || found.version !== CLIENT_VERSION
  const facts = {
    pid: found.process.pid,
    serves: found.serves && !isOutdated,
    watches: found.watches,
    link: found.link,
    isOutdated,
  }
  if (isOutdated)
    return {
      facts,
      finding: {
        isWell: false,
        words: `resident client: process ${facts.pid} is of an older version`,
        remedy: `${connect} renews it.`,
      },
    }
  const words = `resident client: process ${facts.pid}, ${facts.serves ? 'serves commands' : 'serves no commands'}`
  return { facts, finding: { isWell: true, words, remedy: null } }
}

interface WatcherFacts {
  /** `hears`: of changes as they happen; else each capture looks at the whole tree. */
  readonly state: 'hears' | 'off' | 'no-resident' | 'not-here'
}

function examineWatcher(opened: ClientDeps | DomainError, env: Environment): Examined<WatcherFacts> {
  const whole = 'every capture looks at the whole tree'
  const told = (state: WatcherFacts['state'], words: string, remedy: string | null = null) => ({
    facts: { state },
    finding: { isWell: true, words: `watcher: ${words}`, remedy },
  })
  const resident = findResident(findHome(env).store)
  if (resident?.watches === true) return told('hears', 'hears of changes as they happen')
  if (process.platform !== 'linux')
    return told('not-here', `the order of events is not proven on this system; ${whole}`)
  if (!(opened instanceof DomainError) && opened.config.watch === 'off')
    return told('off', `switched off in config.json; ${whole}`)
  return resident === null
    ? told('no-resident', `needs the resident client; ${whole}`)
    : told(
        'off',
        `the resident could not watch; ${whole}`,
        'See its log for why; `sysctl fs.inotify.max_user_watches` may be too low.',
      )
}

function describeWorkspace(context: Context, deps: ClientDeps): object | null {
  const workspace = context.findWorkspace()
  if (workspace === null) return null
  const { id, root } = workspace
  return {
    id,
    root,
    ignoresCase: deps.ignoresCase(root),
    interruptedRestore: deps.log.findJournal(id)?.restore ?? null,
  }
}
