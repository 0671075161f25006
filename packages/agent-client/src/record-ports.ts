import type {
  Entry,
  RelPath,
  RestoreDetail,
  RestoreReport,
  SkippedPath,
  State,
  Tree,
  TurnId,
} from '@turnback/core'
import type { Lease, TurnRow, Workspace } from '#ports.ts'

interface CaptureOptions {
  /** Counts files and bytes of directories that are left out; slow for big ones, so not on the agent's path. */
  readonly countExcluded: boolean
}

/** One look at the tree, recorded: what differed was pushed to the open turns or to an `outside` turn. */
interface ScanResult {
  readonly scan: number
  readonly tree: Tree
  readonly skipped: readonly SkippedPath[]
  readonly statted: number
  readonly hashed: number
  /** Why something could not be looked at, or null when everything was. */
  readonly incomplete: string | null
  /** The `outside` turn that this scan made, if anything had changed with no turn open. */
  readonly outside: TurnId | null
}

/** What a finished restore hands over to be recorded. */
export interface RestoreRecord {
  /** Made by the caller with core's makeId, so that the report can name it. */
  readonly turn: TurnId
  /** `scan` is what {@link Capture.recordRestore} gives it; the caller's is not looked at. */
  readonly detail: RestoreDetail
  readonly report: RestoreReport
  readonly startedAt: string
  /** What the restore wrote: the state of each such path as it was read back; absent for deleted ones. */
  readonly written: ReadonlyMap<RelPath, State>
  /** For the reader of the log: what changed on the disk, per path. */
  readonly entries: readonly Pick<Entry, 'path' | 'before' | 'after'>[]
}

export interface CheckpointRequest {
  readonly label: string | null
  readonly task: string | null
  /** Null for the whole tree. */
  readonly paths: readonly RelPath[] | null
}

/** What capture/ does for others. */
export interface Capture {
  /** Looks at the whole tree and records what differs. A restore calls it first, so the present is always known. */
  scan(lease: Lease, workspace: Workspace, options?: CaptureOptions): Promise<ScanResult>
  /** A restore ends all open turns; with a scan first, by contract rule 2. */
  closeOpenTurns(lease: Lease, workspace: Workspace): Promise<TurnId[]>
  /**
   * An open turn that a restore has to wait for (contract rule 10), or null.
   * @param caller the process that asks for the restore: a turn whose agent stands above it asks itself
   */
  findBusy(workspace: Workspace, caller: number | null): TurnId | null
  /** Turns that nobody is going to end, and turns that began without a look at the tree. */
  listLeftBehind(workspace: Workspace): TurnId[]
  /**
   * Ends the former as `lost` and makes the look that the latter lack; all, or those of `only`. Gives up at once when
   * somebody else has the tree. @returns those that it ended
   */
  lookAfter(workspace: Workspace, only?: ReadonlySet<TurnId>): Promise<TurnId[]>
  /** A moment that can be returned to: one look at the tree, and a turn without changes of its own. */
  makeCheckpoint(lease: Lease, workspace: Workspace, request: CheckpointRequest): Promise<TurnRow>
  /**
   * Makes the turn that a restore is, in one transaction: number, scan, signed manifest, event, report, the known
   * tree (so that the next scan takes nothing of it for anybody's), and the end of the journal.
   */
  recordRestore(lease: Lease, workspace: Workspace, record: RestoreRecord): TurnRow
  /**
   * Signs what was closed and could not be signed at once (`begin` does not wait for the search for secrets).
   * Called before manifests are read or sent. Takes the lease when there is something to do.
   * @param searchMs how long that search may take; what it did not come to is left to the next. All of it when not given
   */
  settle(workspace: Workspace, searchMs?: number | null): Promise<void>
  /** False when {@link Capture.settle} has something to do. */
  isSettled(workspace: Workspace): boolean
  /** True when the latest turn is about to be looked after, and signed then: nobody else need do it. */
  isAwaitingAudit(workspace: Workspace): boolean
  /** A report of a restore that made no turn (`refused`, `failed` or an empty undo): kept for the service. */
  recordReport(workspace: Workspace, report: RestoreReport): void
}
