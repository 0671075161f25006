import { DomainError, type RestoreReport, type TurnId } from '@turnback/core'
import type { RestoreAsk } from '#restore/ask.ts'
import { WHOLE_TURNS } from '#restore/ask.ts'
import { executeRestore } from '#restore/execute.ts'
import { equalEntries, type GitEntry, readIndex, writeIndex } from './git-index.ts'
import { type GitPath, showGitPath } from './git-paths.ts'
import { type Repository, readSubmodules } from './repository.ts'
import type { Leftovers, TaskPorts } from './task.ts'

/** What a rollback did, and what it could not take back. */
export interface RolledBack {
  readonly report: RestoreReport | null
  readonly leftovers: Leftovers
  /** Nothing of what was to be taken back is left. */
  readonly isWhole: boolean
}

const NOTHING_LEFT: Leftovers = { kept: [], failed: [], skipped: [], directories: [], error: null }

/**
 * Takes back a try and all later ones of its task, or what came after a checkpoint. Others' work is kept, and named.
 * @param repository as it was when the turn began: what the task staged is taken out of the index again; null to leave
 * the index alone
 */
export async function rollBack(
  ports: TaskPorts,
  turn: TurnId,
  repository: Repository | null,
): Promise<RolledBack> {
  const back = await rollBackTurn({ ...ports, callerPid: process.pid }, turn, 'from-turn')
  if (repository === null || back.leftovers.error !== null) return back
  try {
    await putIndexBack(repository)
    const moved = findMovedSubmodule(repository)
    if (moved !== null) return withError(back, { code: 'TASK_REFUSED', message: moved })
    const { operation } = ports.deps.git(ports.workspace.root)
    if (operation === repository.operation) return back
    const message =
      operation === null
        ? `The task ended the ${repository.operation} that git was in the middle of.`
        : `Git is in the middle of a ${operation} that the task began: \`git ${operation} ${operation === 'bisect' ? 'reset' : '--abort'}\` ends it.`
    return withError(back, { code: 'TASK_REFUSED', message })
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    const { code, details } = error
    const message = `What the task staged is staged still: ${String(details.said)}`
    return withError(back, { code, message })
  }
}

/** Commits of a submodule are its own repository's, which no restore touches. Null when there are none. */
function findMovedSubmodule({ git, index, submodules }: Repository): string | null {
  const now = readSubmodules(git, index)
  for (const [path, head] of submodules) {
    if (now.get(path) === head || head === null) continue
    const name = showGitPath(path)
    return `The task moved HEAD of the submodule ${name}: \`git reset ${head}\` in there puts it back, and keeps the files.`
  }
  return null
}

function withError(back: RolledBack, error: NonNullable<Leftovers['error']>): RolledBack {
  return { ...back, leftovers: { ...back.leftovers, error }, isWhole: false }
}

async function putIndexBack({ git, index: before }: Repository): Promise<void> {
  const now = await readIndex(git, 'TASK_REFUSED')
  const paths = new Set([...before.entries.keys(), ...now.entries.keys()])
  const wanted = new Map<GitPath, GitEntry | readonly string[] | null>()
  for (const path of paths) {
    const then = before.entries.get(path)
    if (!equalEntries(then, now.entries.get(path))) wanted.set(path, then ?? null)
  }
  // A merge that stood open, or that the task left open, with all its sides.
  for (const path of new Set([...before.unmerged.keys(), ...now.unmerged.keys()])) {
    const [sides, sidesNow] = [before.unmerged.get(path), now.unmerged.get(path)]
    if (sides?.join() !== sidesNow?.join()) wanted.set(path, sides ?? before.entries.get(path) ?? null)
  }
  await writeIndex(git, 'TASK_REFUSED', wanted)
}

/** What is needed to restore. */
export interface RestorePorts extends Pick<TaskPorts, 'deps' | 'workspace' | 'requestedBy' | 'warn'> {
  /** Whose own open turn does not stand in the way. */
  readonly callerPid: number
}

/** Restores a turn; trouble is what is left. */
export async function rollBackTurn(
  ports: RestorePorts,
  turn: TurnId,
  scope: 'from-turn' | 'turn',
): Promise<RolledBack> {
  const ask: RestoreAsk = {
    workspace: ports.workspace,
    target: { kind: 'turn', turn },
    options: { ...WHOLE_TURNS, scope },
    // One turn is taken out from below what came on top of it, commits included.
    allowHeadChange: scope === 'turn',
    ...{ closeOpen: false, dryRun: false, token: null, restore: null },
    requestedBy: ports.requestedBy,
    callerPid: ports.callerPid,
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
