import type { TurnId } from '@turnback/core'
import type { CaptureDeps, Observation } from '#capture-ports.ts'
import type { GitState, Lease, Workspace } from '#ports.ts'
import { nestedRoots, type RecordedScan, recordScan } from './record-scan.ts'

export interface LookAndRecord {
  readonly countExcluded: boolean
  readonly deadlineMs: number | null
  readonly late: ReadonlySet<TurnId>
}

export interface Looked {
  readonly observation: Observation
  readonly git: GitState
  /** Writes what was seen, inside the caller's transaction. */
  record(): RecordedScan
}

/** Looks at the whole tree. Bytes are stored but nothing is in the log until {@link Looked.record}. */
export async function lookAtTree(
  deps: CaptureDeps,
  _lease: Lease,
  workspace: Workspace,
  options: LookAndRecord,
): Promise<Looked> {
  const known = deps.captureLog.loadKnown(workspace.id)
  const sealed = deps.captureLog.listSealedPaths(workspace.id)
  const expectedScan = deps.captureLog.peekScan(workspace.id)
  const git = deps.git(workspace.root)
  const observation = await deps.looker.look(workspace, known, {
    isFirst: known.size === 0,
    countExcluded: options.countExcluded,
    deadlineMs: options.deadlineMs,
    nested: nestedRoots(deps, workspace),
    isSealed: (path) => sealed.has(path),
  })
  return {
    observation,
    git,
    record: () => recordScan(deps, workspace, observation, { expectedScan, late: options.late, git }),
  }
}
