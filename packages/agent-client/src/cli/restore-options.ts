import { userInfo } from 'node:os'
import { type ConflictChoice, DomainError, type RelPath, type Scope } from '@turnback/core'
import { type Command, Option } from 'commander'
import type { Workspace } from '#ports.ts'
import type { RestoreAsk, Target } from '#restore/ask.ts'
import { parsePid } from './agent-option.ts'
import type { Context } from './context.ts'
import { toRelPath } from './paths.ts'
import { quoteForShell } from './shell-quote.ts'

/** What of a turn is to go back, and how. */
export interface ScopeOptions {
  readonly only?: boolean
  readonly session?: boolean | string
  readonly allSessions?: boolean
  readonly path: readonly string[]
  readonly hunk: readonly string[]
  readonly onConflict: string
  readonly exact?: boolean
}

/** How the run goes about it. */
export interface RunOptions {
  readonly token?: string
  readonly allowHeadChange?: boolean
  readonly closeOpen?: boolean
  readonly dryRun?: boolean
  readonly askedBy?: string
}

const collect = (value: string, list: readonly string[]): string[] => [...list, value]

/** @param session how `--session` is meant: all turns of the turn's own session, or the one to undo in */
export function addScopeOptions(command: Command, session: 'own' | 'named'): Command {
  if (session === 'own') command.option('--session', 'all turns of its session')
  return command
    .option('--only', 'that turn alone; later ones are kept by merging')
    .option('--all-sessions', 'the turn and every later one, whoever made it')
    .option('--path <path>', 'only this file or folder (may be given again)', collect, [])
    .option('--hunk <path:id>', 'only this hunk of the turn’s diff (may be given again)', collect, [])
    .option('--on-conflict <choice>', 'for files changed since: keep, save, merge or fail', 'keep')
    .option('--exact', 'also what was changed outside of turns since')
}

export function addRunOptions(command: Command): Command {
  return addManner(command)
    .option('--token <token>', 'carry out exactly the preview with this token')
    .option('--dry-run', 'say what would be done, and do nothing')
}

export function addManner(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--asked-by <pid>',
        'the process that asks, when it is another than who starts this',
      ).hideHelp(),
    )
    .option('--allow-head-change', 'also when the commit or branch is another one')
    .option('--close-open', 'cut a busy agent’s turn off')
}

/** The options of a scope as they can be typed again. */
export function scopeWords(given: Partial<ScopeOptions>): string[] {
  const valued = (name: string, values: readonly string[] = []) =>
    values.flatMap((value) => [name, quoteForShell(value)])
  return [
    ...(given.only === true ? ['--only'] : []),
    ...(given.session === true ? ['--session'] : []),
    ...(given.allSessions === true ? ['--all-sessions'] : []),
    ...valued('--path', given.path),
    ...valued('--hunk', given.hunk),
    ...(given.exact === true ? ['--exact'] : []),
    ...(given.onConflict === undefined || given.onConflict === 'keep'
      ? []
      : ['--on-conflict', given.onConflict]),
  ]
}

/** @throws USAGE, OUTSIDE_ROOT */
export function toAsk(
  context: Context,
  workspace: Workspace,
  target: Target,
  given: Partial<ScopeOptions> & RunOptions,
): RestoreAsk {
  const paths = (given.path ?? []).map((typed) => toRelPath(workspace, context.folder, typed))
  return {
    workspace,
    target,
    options: {
      scope: scopeOf(given),
      exact: given.exact === true,
      onConflict: choiceOf(given.onConflict ?? 'keep'),
      // The root named as a path is the whole tree.
      paths: paths.length === 0 || paths.includes('') ? null : paths,
      hunks: hunksOf(context, workspace, given.hunk ?? []),
    },
    allowHeadChange: given.allowHeadChange === true,
    closeOpen: given.closeOpen === true,
    dryRun: given.dryRun === true,
    token: given.token ?? null,
    restore: null,
    requestedBy: { kind: 'local', name: findUserName() },
    callerPid: given.askedBy === undefined ? context.callerPid : parsePid('askedBy', given.askedBy),
  }
}

function scopeOf({ only, session, allSessions }: Partial<ScopeOptions>): Scope {
  const chosen: Scope[] = []
  if (only === true) chosen.push('turn')
  if (session === true) chosen.push('session')
  if (allSessions === true) chosen.push('all-sessions')
  if (chosen.length > 1) throw usage('Choose one of --only, --session and --all-sessions.')
  return chosen[0] ?? 'from-turn'
}

function choiceOf(text: string): ConflictChoice {
  switch (text) {
    case 'keep':
    case 'save':
    case 'merge':
    case 'fail':
      return text
    default:
      throw usage(`--on-conflict is keep, save, merge or fail, not ${text}.`)
  }
}

function hunksOf(
  context: Context,
  workspace: Workspace,
  given: readonly string[],
): { readonly path: RelPath; readonly id: string }[] | null {
  if (given.length === 0) return null
  return given.map((text) => {
    const [, typed, id] = /^(.+):([0-9a-f]{8})$/s.exec(text) ?? []
    if (typed === undefined || id === undefined)
      throw usage(`--hunk is PATH:ID with the ID of \`turnback diff --json\`, not ${text}.`)
    return { path: toRelPath(workspace, context.folder, typed), id }
  })
}

function usage(message: string): DomainError {
  return new DomainError('USAGE', {}, { message })
}

/** Who asks, as the system knows them. */
export function findUserName(): string {
  try {
    return userInfo().username
  } catch {
    // A user that the system has no name for: a container run under a bare number.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
