import { nameOf, parentOf, type RelPath, type SkipReason, type TurnId } from '@turnback/core'
import type { CaptureDeps, ChangedPaths, KnownTree, Observation } from '#capture-ports.ts'
import type { GitState, Lease, Workspace } from '#ports.ts'
import { startFirstReads } from './first-reads.ts'
import { type JustClosed, nestedRoots, type RecordedScan, recordScan } from './record-scan.ts'

export interface LookAndRecord {
  readonly countExcluded: boolean
  readonly deadlineMs: number | null
  /** When a walk that is not done is given up: {@link LookTooLate} is thrown. */
  readonly giveUpMs?: number
  readonly late: ReadonlySet<TurnId>
  /** Looks at these paths alone, and takes nothing of what was heard. */
  readonly only?: ChangedPaths
  readonly justClosed?: JustClosed
}

export interface Looked {
  /** When the look began, in milliseconds since 1970. */
  readonly atMs: number
  readonly observation: Observation
  readonly git: GitState
  /** Writes what was seen, inside the caller's transaction. */
  record(): RecordedScan
}

/** Why a path may be told another way next time, though nobody touched it. */
const TO_RETRY: ReadonlySet<SkipReason> = new Set([
  'unreadable',
  'budget',
  'changed-while-reading',
  'unsafe-live',
])

/**
 * Looks at the tree: at what a watcher heard of since the last look, or at all of it where none is sure. Bytes are
 * stored but nothing is in the log until {@link Looked.record}.
 */
export async function lookAtTree(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  options: LookAndRecord,
): Promise<Looked> {
  const atMs = deps.clock.nowMs()
  const heard = options.only === undefined ? ((await deps.watches?.hear(workspace)) ?? null) : null
  const known = deps.captureLog.loadKnown(workspace.id)
  const sealed = deps.captureLog.listSealedPaths(workspace.id)
  const expectedScan = deps.captureLog.peekScan(workspace.id)
  const lastEvent = options.only === undefined ? deps.captureLog.peekEvents() : null
  const git = deps.git(workspace.root)
  const isFirst = known.size === 0
  const nested = nestedRoots(deps, workspace)
  const changed = isFirst
    ? null
    : (options.only ?? (heard === null ? null : withUnheard(deps, workspace, known, nested, heard.paths)))
  const observation = await deps.looker.look(workspace, known, {
    isFirst,
    changed,
    watching: heard ?? deps.watches?.watching(workspace) ?? null,
    // Counting is slow: it is left to the audit that follows a quick look.
    countExcluded: options.countExcluded && heard?.paths == null,
    deadlineMs: options.deadlineMs,
    // Of a tree that is not known at all, a turn could not even say what it lost.
    giveUpMs: isFirst ? null : (options.giveUpMs ?? null),
    nested,
    isSealed: (path) => sealed.has(path),
    ...(isFirst ? { first: startFirstReads(deps, workspace) } : {}),
    ahead: (folder, name) => deps.ahead?.find(workspace.id, folder, name) ?? null,
  })
  return {
    atMs,
    observation,
    git,
    record() {
      const { late, justClosed = null } = options
      const about = { expectedScan, late, git, justClosed, lastEvent }
      lease.check()
      const recorded = recordScan(deps, workspace, observation, about)
      if (isFirst) deps.captureLog.dropFirstReads(workspace.id)
      if (heard !== null) {
        deps.captureLog.afterCommit(() => {
          heard.settle(observation)
          deps.ahead?.forget(workspace.id)
        })
      }
      return recorded
    },
  }
}

/**
 * What nobody tells of: when a path that could not be looked at before can be, and where workspaces were registered, or
 * given up, below this one.
 */
function withUnheard(
  deps: CaptureDeps,
  workspace: Workspace,
  known: KnownTree,
  nested: ReadonlySet<string>,
  heard: ChangedPaths | null,
): ChangedPaths | null {
  if (heard === null || known.get('')?.unlisted === true) return null
  const all = new Map(heard)
  const lookAgain = (path: RelPath) => {
    const names = all.get(parentOf(path))
    const before = names === undefined || names === 'all' ? [] : names
    all.set(parentOf(path), new Map([...before, [nameOf(path), 'replaced']]))
  }
  const leftOut = new Set<string>()
  for (const { path, reason } of deps.captureLog.summariseKnown(workspace.id).skipped) {
    if (reason === 'nested-workspace') leftOut.add(`${workspace.root}/${path}`)
    if (TO_RETRY.has(reason)) lookAgain(path)
  }
  for (const root of new Set([...nested, ...leftOut]))
    if (!nested.has(root) || !leftOut.has(root)) lookAgain(root.slice(workspace.root.length + 1))
  return all
}
