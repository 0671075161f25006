import type {
  BlobId,
  Change,
  EndReason,
  RelPath,
  RestoreDetail,
  RestoreReport,
  SkippedPath,
  Source,
  State,
  TurnId,
  TurnKind,
  WorkspaceId,
} from '@turnback/core'
import type { AgentProcess, Clock, Config, Deps, Processes, ToolEvent, TurnRow, Workspace } from '#ports.ts'
import type { AgentLog, Transcripts } from './agent-ports.ts'

/** What only capture/ needs from store/ and worktree/, beside what ports.ts says. */

/** What the last scan knew of one path. */
export interface KnownEntry {
  readonly state: State
  /** Device, inode, size, times and mode as the scan saw them; '' when they prove nothing and bytes are to be read again. */
  readonly stamp: string
  /** Files and bytes below a directory that is left out whole, and its times when they were counted. */
  readonly below?: { readonly count: number; readonly sizeBytes: number; readonly at: string }
  /** A directory with an ambiguous name (`dist`, `build` …) that is captured as long as it stays small. */
  readonly watched?: boolean
}

export interface KnownFolder {
  /** The directory's own stamp when its names were read; '' when they are to be read again. */
  readonly stamp: string
  /** True when the names could not be read: what is not listed here is not known to be absent. */
  readonly unlisted: boolean
  readonly entries: ReadonlyMap<string, KnownEntry>
}

/** What is known of a tree, by directory: `''` is the root. */
export type KnownTree = ReadonlyMap<RelPath, KnownFolder>

export interface Difference {
  readonly path: RelPath
  readonly before: State
  readonly after: State
  /** Change time of what is there now, or of the parent when nothing is; milliseconds since 1970. */
  readonly changedMs: number
}

export interface Observation {
  readonly differences: readonly Difference[]
  /** The folders that are not as they were known; null for those that are gone. */
  readonly folders: ReadonlyMap<RelPath, KnownFolder | null>
  readonly skipped: readonly SkippedPath[]
  /** Paths that are to be sealed from now on, because of their name or of what git ignores. */
  readonly sealed: readonly RelPath[]
  readonly files: number
  readonly bytes: number
  readonly statted: number
  readonly hashed: number
  readonly incomplete: string | null
}

/**
 * Names in one folder that may not be as they are known. `changed`: the bytes, mode or link text of this name at most;
 * `replaced`: it, and if it is a folder, everything below. `all` is every name of the folder, each as `changed`.
 */
export type ChangedNames = ReadonlyMap<string, 'changed' | 'replaced'> | 'all'

/** By folder. What is not named here is as it is known. */
export type ChangedPaths = ReadonlyMap<RelPath, ChangedNames>

/** Hears of changes in the folders of one tree. */
export interface Watching {
  /**
   * Called before the names of a folder are read, so that no later change is missed.
   * @param isNew the folder may be another one than was watched under this path before
   */
  cover(folder: RelPath, disk: string | Buffer, device: bigint, isNew: boolean): void
}

/** What a watcher has heard since the last look that was kept. */
export interface HeardChanges extends Watching {
  /** Null when not everything was heard: then the whole tree is to be looked at. */
  readonly paths: ChangedPaths | null
  /**
   * The look that stands on this was kept: what it saw need not be told again. Without this call the next look is one
   * at the whole tree.
   */
  settle(observation: Observation): void
}

/** Watches over trees as long as the process lives. */
export interface TreeWatches {
  /** Everything that was changed before this call, or null where this tree can not be watched. */
  hear(workspace: Workspace): Promise<HeardChanges | null>
  /** For a look at parts of the tree that takes nothing of what was heard; null as above. */
  watching(workspace: Workspace): Watching | null
  /** What was heard since this was last asked, or a look last took what was heard; null when not everything was heard. */
  takeFresh(workspace: Workspace): ChangedPaths | null
  /** Calls `listener` with each thing that is heard. */
  onHeard(listener: (workspace: WorkspaceId) => void): void
  close(): void
}

/** What was read of files before the look that records them: good as long as a file's stamp is the same. */
export interface ReadAhead {
  find(workspace: WorkspaceId, folder: RelPath, name: string): KnownEntry | null
  /** It was recorded, or is of no use any more. */
  forget(workspace: WorkspaceId): void
}

/** Thrown by a look that was to be given up by then: nothing of it was kept. */
export class LookTooLate extends Error {
  constructor() {
    super('the look at the tree took too long')
    this.name = 'LookTooLate'
  }
}

export interface LookOptions {
  readonly isFirst: boolean
  /** When a walk that is not done is given up whole; null for never. @throws LookTooLate */
  readonly giveUpMs: number | null
  /** What is to be looked at; null for the whole tree. */
  readonly changed: ChangedPaths | null
  readonly watching: Watching | null
  readonly countExcluded: boolean
  /** When the agent waits no longer: what is not read by then is skipped as `budget`. */
  readonly deadlineMs: number | null
  /** Roots of other workspaces, below this one. */
  readonly nested: ReadonlySet<string>
  readonly isSealed: (path: RelPath) => boolean
  /** Only of a first capture. */
  readonly first?: FirstReads
  /** What was read of a file already, if anything. */
  readonly ahead?: (folder: RelPath, name: string) => KnownEntry | null
  /** What is too much for this look is left for another one: bigger files, and all after so many bytes. */
  readonly readAtMost?: { readonly fileBytes: number; readonly bytes: number }
}

/** How far a first capture is. */
export interface ReadProgress {
  readonly files: number
  readonly bytes: number
  readonly ofFiles: number
}

/** A first capture that can be cut off: what an earlier attempt read, and where this one leaves word. */
export interface FirstReads {
  find(folder: RelPath, name: string): KnownEntry | null
  isSliceDue(): boolean
  /** Makes durable what was read since the last time. All files of a folder that were read so far are given each time. */
  save(files: ReadonlyMap<RelPath, ReadonlyMap<string, KnownEntry>>): void
  onProgress(progress: ReadProgress): void
}

/** Looks at a whole tree and stores the bytes of what is new. */
export interface TreeLooker {
  look(workspace: Workspace, known: KnownTree, options: LookOptions): Promise<Observation>
}

export interface NewTurn {
  readonly turn: TurnId
  readonly workspace: WorkspaceId
  readonly kind: TurnKind
  readonly session: string | null
  readonly key: string | null
  readonly agent: { readonly name: string; readonly version: string | null } | null
  readonly prompt: string | null
  readonly label: string | null
  readonly task: string | null
  readonly startedAt: string
  readonly headBefore: string | null
  readonly branch: string | null
  readonly operation: string | null
  readonly beginScan: number
  readonly paths: readonly RelPath[] | null
  readonly lateStart: boolean
  readonly incomplete: string | null
  readonly agentProcess: AgentProcess | null
  /** True when the tree was not looked at: `beginScan` is the scan before. */
  readonly isUnseen: boolean
  readonly missed: Missed | null
}

/** Paths that had changed before a late begin looked at them. */
export interface Missed {
  readonly count: number
  /** The first of them. */
  readonly paths: readonly RelPath[]
}

/** What a turn's manifest needs and {@link TurnRow} does not say. */
export interface TurnFacts {
  readonly lateEnd: boolean
  readonly agentVersion: string | null
  readonly agentModel: string | null
  readonly operation: string | null
  readonly lateStart: boolean
  readonly incomplete: string | null
  readonly lastMessage: string | null
  readonly missed: Missed | null
}

export interface ClosedTurn {
  readonly turn: TurnId
  readonly endedAt: string
  readonly endReason: EndReason | null
  readonly lateEnd: boolean
  readonly headAfter: string | null
  /** In place of the branch that it began on: a turn may change branches, and HEAD afterwards is compared with its end. */
  readonly branch: string | null
  readonly lastMessage: string | null
  readonly endScan: number
  /** What its last look could not see; what its first could not stays beside it. */
  readonly incomplete: string | null
  readonly entries: number
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly skipped: number
}

export interface NewChange {
  readonly path: RelPath
  readonly scan: number
  readonly turn: TurnId
  readonly source: Source
  readonly sharedBy: readonly TurnId[]
  readonly before: State
  readonly after: State
}

/** The writing side of the log. Everything here is called inside {@link Log.transact}. */
export interface CaptureLog {
  /** Runs `work` once the transaction that is open now is kept. */
  afterCommit(work: () => void): void
  insertWorkspace(workspace: Workspace, idKey: Uint8Array): void
  setProject(workspace: WorkspaceId, project: string): void
  loadKnown(workspace: WorkspaceId): KnownTree
  saveKnown(workspace: WorkspaceId, folders: ReadonlyMap<RelPath, KnownFolder | null>): void
  /** Files in the known tree, and all that it holds without their bytes. */
  summariseKnown(workspace: WorkspaceId): { readonly files: number; readonly skipped: readonly SkippedPath[] }
  /** Gives bytes of the known tree another name, per path: plain ones that turned out to be secret. */
  renameKnown(workspace: WorkspaceId, names: ReadonlyMap<RelPath, ReadonlyMap<BlobId, BlobId>>): void
  /** What a first capture that was cut off had read. Dropped with the transaction that makes it. */
  loadFirstReads(workspace: WorkspaceId): ReadonlyMap<RelPath, ReadonlyMap<string, KnownEntry>>
  saveFirstReads(workspace: WorkspaceId, files: ReadonlyMap<RelPath, ReadonlyMap<string, KnownEntry>>): void
  dropFirstReads(workspace: WorkspaceId): void
  listSealedPaths(workspace: WorkspaceId): ReadonlySet<RelPath>
  addSealedPaths(workspace: WorkspaceId, paths: readonly RelPath[]): void

  /** The number that the next scan will have; taken only by {@link takeScan}. */
  peekScan(workspace: WorkspaceId): number
  takeScan(workspace: WorkspaceId): number

  insertTurn(turn: NewTurn): number
  getFacts(turn: TurnId): TurnFacts
  closeTurn(closed: ClosedTurn): void
  /** A later scan found more of what a closed turn did. */
  extendTurn(
    turn: TurnId,
    endScan: number,
    counts: Pick<ClosedTurn, 'entries' | 'created' | 'changed' | 'deleted'>,
  ): void
  insertEvent(event: ToolEvent): void
  /** A turn was heard of, by news that is not its own. */
  touchTurn(turn: TurnId, atMs: number): void
  setAgent(turn: TurnId, agent: AgentProcess): void
  /** The tree was looked at: what the open turns find from now on has a known state before it. */
  markSeen(workspace: WorkspaceId): void
  /** Stands for the last event that was written down. */
  peekEvents(): number
  /** Events of open turns that came after that one count for the scan after this one too. */
  carryEvents(workspace: WorkspaceId, scan: number, after: number): void
  /** The turn that the session closed last. */
  findLastClosed(workspace: WorkspaceId, session: string): TurnRow | null
  /** Changes that this turn made, or that it shares with others. */
  listChangesOf(turn: TurnRow): Change[]
  insertChanges(workspace: WorkspaceId, changes: readonly NewChange[]): void
  /** Writes other states over those of one change: only for bytes that turned out to be secret. */
  replaceStates(workspace: WorkspaceId, path: RelPath, scan: number, before: State, after: State): void
  /** Closed turns that have no signed manifest yet, oldest first. */
  listUnsigned(workspace: WorkspaceId): TurnRow[]
  isSigned(turn: TurnId): boolean
  /** Whether an agent has begun another turn since. */
  hasLaterTurn(turn: TurnRow): boolean
  /** Turns of the workspace that were open at a time between the two scans. */
  listOverlaps(turn: TurnRow): TurnId[]

  /** Seq and previous hash for the next envelope of the chain. */
  peekChain(workspace: WorkspaceId): { readonly seq: number; readonly prev: string | null }
  insertEnvelope(
    turn: TurnId,
    workspace: WorkspaceId,
    seq: number,
    prev: string | null,
    envelope: Uint8Array,
  ): void

  insertRestore(workspace: WorkspaceId, turn: TurnId, detail: RestoreDetail, report: RestoreReport): void
  insertReport(workspace: WorkspaceId, report: RestoreReport, madeAt: string): void
}

/** Finds what looks like keys and passwords in texts. Loading it is slow, so a turn's begin does without. */
export interface SecretFinder {
  /** Which of the texts hold something that looks like a secret. */
  find(texts: readonly string[]): Promise<readonly boolean[]>
  /** The text with everything that looks like a secret written over. Quick for texts that can hold none. */
  mask(text: string): Promise<string>
}

/** A turn that its agent ended a moment ago. */
export interface JustEnded {
  readonly turn: TurnId
  /** When the look began that the end made. */
  readonly lookedAtMs: number
}

export interface CaptureDeps {
  readonly clock: Clock
  readonly processes: Processes
  readonly config: Config
  readonly log: Deps['log']
  readonly captureLog: CaptureLog
  readonly agents: AgentLog
  readonly transcripts: Transcripts
  readonly blobs: Deps['blobs']
  readonly looker: TreeLooker
  /** How a first capture is shown, and how often it is made durable. */
  readonly firstCapture?: {
    readonly onProgress?: (progress: ReadProgress) => void
    readonly sliceMs?: number
  }
  /** Null in a process that ends after its command. */
  readonly watches: TreeWatches | null
  /** Null where nobody hears of changes. */
  readonly ahead: ReadAhead | null
  /**
   * Called when turns were closed; they are signed later. One that its agent ended was ended by a quick look, and is
   * signed after a whole one. Null where who closes a turn signs it.
   */
  readonly afterEnd: ((workspace: Workspace, ended: JustEnded | null) => void) | null
  readonly secrets: SecretFinder
  identity: Deps['identity']
  random: Deps['random']
  git: Deps['git']
}
