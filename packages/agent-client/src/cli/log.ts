import { DomainError, isWithin, type RelPath, type TurnId, turnKindSchema, undoneMarks } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import { listRestoreFacts } from '#restore/facts.ts'
import type { Context, Register } from './context.ts'
import { lookAfterTurns } from './look-after.ts'
import { toRelPath } from './paths.ts'

interface Options {
  readonly session?: string
  readonly kind?: string
  readonly limit: string
  readonly path?: string
}

export const register: Register = (program, context) => {
  program
    .command('log')
    .option('--session <id>', 'only turns of this session')
    .option('--kind <kind>', turnKindSchema.options.join(', '))
    .option('--limit <n>', 'at most this many', '50')
    .option('--path <path>', 'only turns that changed this path, or something below it')
    .description('list turns, newest first')
    .action(async (options: Options) => {
      await lookAfterTurns(context)
      const turns = listTurns(context, options)
      context.print({ turns }, () => turns.map(inWords).join('\n'))
    })
}

type LogLine = ReturnType<typeof toLine>

function listTurns(context: Context, options: Options): LogLine[] {
  const limit = Number(options.limit)
  if (!Number.isInteger(limit) || limit < 1) throw new DomainError('USAGE', { limit: options.limit })
  const kind = options.kind === undefined ? null : turnKindSchema.safeParse(options.kind)
  if (kind?.success === false)
    throw new DomainError('USAGE', { kind: options.kind, known: turnKindSchema.options })
  const workspace = context.getWorkspace()
  const { deps } = context
  const path = options.path === undefined ? null : toRelPath(workspace, context.folder, options.path)
  const touching = path === null ? null : turnsTouching(deps, workspace, path)
  const marks = undoneMarks(listRestoreFacts(deps, workspace))
  return deps.log
    .listTurns(workspace.id)
    .toReversed()
    .filter((row) => options.session === undefined || row.session === options.session)
    .filter((row) => kind === null || row.kind === kind.data)
    .filter((row) => touching === null || touching.has(row.turn))
    .slice(0, limit)
    .map((row) => toLine(row, marks.get(row.turn) ?? 'no'))
}

function turnsTouching(deps: ClientDeps, workspace: Workspace, path: RelPath): Set<TurnId> {
  const turns = new Set<TurnId>()
  for (const change of deps.log.listChanges(workspace.id)) {
    if (isWithin(change.path, path)) for (const turn of [change.turn, ...change.sharedBy]) turns.add(turn)
  }
  for (const { turn, detail } of deps.log.listRestores(workspace.id)) {
    if ([...detail.popped, ...detail.putBack, ...detail.pushed].some((each) => isWithin(each.path, path)))
      turns.add(turn)
  }
  return turns
}

function toLine(row: TurnRow, undone: 'no' | 'partly' | 'yes') {
  const { turn, number, kind, session, agent, prompt, label, startedAt, endedAt, endReason } = row
  const { created, changed, deleted, skipped } = row
  return {
    turn,
    number,
    kind,
    session,
    agent,
    prompt,
    label,
    startedAt,
    endedAt,
    endReason,
    created,
    changed,
    deleted,
    skipped,
    undone,
    pinned: row.pinned,
  }
}

function inWords(line: LogLine): string {
  const counts = `+${line.created} ~${line.changed} -${line.deleted}`
  const mark = line.undone === 'no' ? '' : ` [undone: ${line.undone}]`
  const pin = line.pinned ? ' [pinned]' : ''
  const state = line.endedAt === null ? ' [open]' : ''
  const said = (line.prompt ?? line.label ?? '').split('\n')[0] ?? ''
  return `@${line.number}  ${line.turn}  ${line.kind}  ${counts}${state}${pin}${mark}  ${said}`.trimEnd()
}
