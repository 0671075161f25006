import { DomainError, type RestoreReport, type TurnId } from '@turnback/core'
import type { RestoreAsk } from '#restore/ask.ts'
import { WHOLE_TURNS } from '#restore/ask.ts'
import { executeRestore } from '#restore/execute.ts'
import type { Leftovers, TaskPorts } from './task.ts'

/** What a rollback did, and what it could not take back. */
export interface RolledBack {
  readonly report: RestoreReport | null
  readonly leftovers: Leftovers
  /** Nothing of what was to be taken back is left. */
  readonly isWhole: boolean
}

const NOTHING_LEFT: Leftovers = { kept: [], failed: [], skipped: [], directories: [], error: null }

/** Takes back a try and all later ones of its task, or what came after a checkpoint. Others' work is kept, and named. */
export async function rollBack(ports: TaskPorts, turn: TurnId): Promise<RolledBack> {
  const ask: RestoreAsk = {
    workspace: ports.workspace,
    target: { kind: 'turn', turn },
    options: WHOLE_TURNS,
    ...{ allowHeadChange: false, closeOpen: false, dryRun: false, token: null, restore: null },
    requestedBy: ports.requestedBy,
    callerPid: process.pid,
  }
  try {
    return toRolledBack(await executeRestore(ports.deps, ask, ports.warn))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { code, message } = error
    return { report: null, leftovers: { ...NOTHING_LEFT, error: { code, message } }, isWhole: false }
  }
}

function toRolledBack(report: RestoreReport): RolledBack {
  const { kept, failed, skipped, directories, error } = report
  const isDone = report.status === 'done' || report.status === 'nothing-to-do'
  const leftovers: Leftovers = {
    ...{ kept, failed, skipped, directories: directories.kept },
    error: error === undefined ? null : { code: error.code, message: error.message },
  }
  const left = [kept, failed, skipped, directories.kept].some((list) => list.length > 0)
  return { report, leftovers, isWhole: isDone && !left }
}
