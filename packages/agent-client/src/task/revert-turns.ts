import { DomainError, type TurnId, undoneMarks } from '@turnback/core'
import type { TurnRow } from '#ports.ts'
import { WHOLE_TURNS } from '#restore/ask.ts'
import { executeRestore } from '#restore/execute.ts'
import { listRestoreFacts } from '#restore/facts.ts'
import type { Reverted, RevertPorts } from './revert.ts'
import { rollBackTurn } from './roll-back.ts'

/**
 * Takes back the turns of a task that no commit has: each alone, the latest first, with later work kept by merging.
 * @throws TASK_NOT_FOUND; REVERT_REFUSED when some path can not be taken back alone, and then all is as it was
 */
export async function revertTurns(ports: RevertPorts, task: string): Promise<Reverted> {
  const rows = listTurnsOf(ports, task)
  if (rows.length === 0) throw new DomainError('TASK_NOT_FOUND', { task })
  const made: TurnId[] = []
  const paths = new Set<string>()
  for (const row of rows.toReversed()) {
    await refuseConflicts(ports, row, made)
    const { report } = await rollBackTurn(ports, row.turn, 'turn')
    if (report === null || report.status === 'failed' || report.status === 'refused')
      throw new DomainError('REVERT_REFUSED', { turn: row.turn, said: report?.error?.message ?? '' })
    if (report.turn !== null) made.push(report.turn)
    for (const path of [...report.restored, ...report.deleted, ...report.merged]) paths.add(path)
  }
  const turn = made.at(-1)
  if (turn === undefined) throw new DomainError('TASK_NOT_FOUND', { task })
  return { task, commit: null, revertedBy: turn, turn, paths: [...paths].sort() }
}

function listTurnsOf({ deps, workspace }: RevertPorts, task: string): TurnRow[] {
  const marks = undoneMarks(listRestoreFacts(deps, workspace))
  return deps.log
    .listTurns(workspace.id)
    .filter(
      (row) => row.kind === 'task' && row.task === task && row.entries > 0 && marks.get(row.turn) !== 'yes',
    )
}

/** @param made restores of later turns of the task, to be taken back when this one can not be */
async function refuseConflicts(ports: RevertPorts, row: TurnRow, made: readonly TurnId[]): Promise<void> {
  const report = await executeRestore(ports.deps, {
    workspace: ports.workspace,
    target: { kind: 'turn', turn: row.turn },
    options: { ...WHOLE_TURNS, scope: 'turn' },
    ...{ allowHeadChange: true, closeOpen: false, dryRun: true, token: null, restore: null },
    requestedBy: ports.requestedBy,
    callerPid: ports.callerPid,
  })
  const kept = report.kept.filter(({ path }) => path !== '')
  if (kept.length === 0) return
  for (const turn of made.toReversed()) await rollBackTurn(ports, turn, 'turn')
  const later = kept.flatMap(({ turn }) =>
    turn === undefined ? [] : (ports.deps.log.findTurn(turn)?.task ?? []),
  )
  const tasks = [...new Set(later)]
  throw new DomainError('REVERT_REFUSED', {
    paths: kept.map(({ path, reason }) => `${path}: ${reason}`),
    ...(tasks.length === 0 ? {} : { laterTasks: tasks, next: `turnback revert ${tasks.at(-1)}` }),
  })
}
