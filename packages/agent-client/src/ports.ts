import type {
  BlobId,
  Change,
  EndReason,
  EnvelopeType,
  MachineId,
  RelPath,
  RestoreDetail,
  RestoreEvent,
  RestoreId,
  RestoreReport,
  State,
  Tree,
  TurnId,
  TurnKind,
  TurnManifest,
  WorkspaceId,
} from '@turnback/core'
import type { GapLog } from './gap-ports.ts'
import type { AgentProcess, Processes } from './process-ports.ts'
import type { Capture } from './record-ports.ts'
import type { TreeWriter } from './write-ports.ts'

/**
 * What capture/, restore/ and sync/ need from the rest of the client. Concretes are wired in deps.ts. File and
 * database access is synchronous on purpose: it is two to four times faster than promises in a walk, and the
 * command line does one thing at a time. Only what waits for somebody else (a lease, worker threads) is a promise.
 */

export interface Clock {
  nowMs(): number
}

/** A folder that is watched over. The same path on another device or inode is another workspace. */
export interface Workspace {
  readonly id: WorkspaceId
  /** Absolute, links resolved. */
  readonly root: string
  readonly device: string
  readonly inode: string
  readonly name: string
  /** Project name given by `init --project`, or null. */
  readonly project: string | null
  readonly createdAt: string
}

/** Bytes by name. Everything here is local; nothing is fetched. */
export interface BlobStore {
  /** Stores bytes under their id and gives it; repeatable. Durable only after {@link BlobStore.flush}. @throws STORE_FULL, NOT_RECORDED */
  put(workspace: WorkspaceId, bytes: Uint8Array, sealed: boolean): BlobId
  /**
   * The same for a file that is read in pieces from an open descriptor, from its beginning to its end.
   * @param previous the blob that the same path had before: a new version may be stored as what differs from it
   * @returns the id, and the bytes that were read: the caller compares them with what fstat says.
   */
  putOpenFile(
    workspace: WorkspaceId,
    fd: number,
    sealed: boolean,
    previous?: BlobId | null,
  ): { blob: BlobId; sizeBytes: number }
  has(id: BlobId): boolean
  /** Length of what the id names, or null when it is not here. */
  findSize(id: BlobId): number | null
  /** The bytes, checked against their id. @throws BLOB_NOT_FOUND, BLOB_HASH_MISMATCH */
  read(id: BlobId): Uint8Array
  /** Calls `take` with the bytes piece by piece. Throws after the last piece when they did not fit the id. */
  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void
  /** Many readings cost little more than one inside this: each alone takes and gives back the locks of the index. */
  together<T>(work: () => T): T
  /** The id that `bytes` would have, without storing anything. */
  idOf(workspace: WorkspaceId, bytes: Uint8Array, sealed: boolean): BlobId
  /** The id that an open file's bytes would have; read in pieces, nothing stored. */
  idOfOpenFile(workspace: WorkspaceId, fd: number, sealed: boolean): { blob: BlobId; sizeBytes: number }
  /**
   * Makes all that was put durable (pack files first) and lists it in the index; in the caller's transaction when
   * one is open, else in one of its own. Called before the log names the blobs. @throws STORE_FULL, NOT_RECORDED
   */
  flush(): void
  /**
   * Makes sure that what was put under these names was not given up since, when somebody else's bytes could not be
   * written. Called after {@link BlobStore.flush}, before the log names them. @throws NOT_RECORDED
   */
  confirm(ids: Iterable<BlobId>): void
}

export interface TurnRow {
  readonly turn: TurnId
  readonly workspace: WorkspaceId
  readonly number: number
  readonly kind: TurnKind
  readonly session: string | null
  readonly key: string | null
  readonly agent: string | null
  readonly prompt: string | null
  readonly label: string | null
  readonly task: string | null
  readonly startedAt: string
  readonly endedAt: string | null
  readonly endReason: EndReason | null
  readonly isOpen: boolean
  readonly pinned: boolean
  /** The scan that its `begin` made; for a checkpoint the scan that it is. Later changes have larger numbers. */
  readonly beginScan: number
  /** The scan that its end made; null while it is open. */
  readonly endScan: number | null
  /** HEAD when the turn began, and HEAD and branch when it ended; while it is open, the branch that it began on. */
  readonly headBefore: string | null
  readonly headAfter: string | null
  readonly branch: string | null
  /** Paths of a checkpoint, or null for the whole tree. Always null for other kinds. */
  readonly paths: readonly RelPath[] | null
  /** Last `hook` or `event` of an open turn, in milliseconds since 1970; null when there was none. */
  readonly lastEventMs: number | null
  /** Tools that began and did not end, of an open turn. */
  readonly toolsInFlight: number
  /** The agent that works on it; null when nobody said which process that is. */
  readonly agentProcess: AgentProcess | null
  /** The start of the machine in which it was last heard of; null in what older clients wrote. */
  readonly boot: string | null
  /** It began without a look at the tree, and there was none since: what was there before it is not known. */
  readonly isUnseen: boolean
  /** Where its agent writes down what is said, on this machine; null when it did not say. */
  readonly transcript: string | null
  /** When its person broke it off, as the transcript says; null when they did not, or nobody has looked. */
  readonly interruptedMs: number | null
  /** Paths that it changed, directories included; 0 while it is open. */
  readonly entries: number
  /** Of these, files and links that were made, changed and deleted. */
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly skipped: number
}

/** Where a tool wrote outside of the tree. */
export interface OutsidePath {
  /** Absolute, links resolved. */
  readonly path: string
  /** The path in the tree by whose link it was reached, or null. */
  readonly link: RelPath | null
}

/** What an agent's adapter said during a turn. */
export interface ToolEvent {
  readonly turn: TurnId
  readonly atMs: number
  readonly type: 'turn.start' | 'tool.before' | 'tool.after' | 'turn.end' | 'session.end'
  readonly tool: string | null
  readonly command: string | null
  readonly paths: readonly RelPath[]
  /** Files that it wrote and no scan sees. */
  readonly outside: readonly OutsidePath[]
  /** The scan that would come next when the event came. */
  readonly nextScan: number
}

/** A restore's own facts, beside its turn row. `detail` is what its manifest says. */
export interface RestoreRow {
  readonly detail: RestoreDetail
  readonly turn: TurnId
  readonly report: RestoreReport
}

/** One signed envelope that waits to be sent. */
export interface OutboxItem {
  readonly workspace: WorkspaceId
  readonly turn: TurnId
  readonly kind: TurnKind
  readonly seq: number
  readonly prev: string | null
  /** Hex SHA-256 of the envelope, not of its compressed form. */
  readonly sha256: string
  /** Null when the server has it. */
  readonly pushedAt: string | null
  /** Null, or why it was set aside (`parked`): it can not be sent as it is, a stub goes instead. */
  readonly parked: string | null
}

export interface ReportItem {
  readonly restore: RestoreId
  readonly workspace: WorkspaceId
  readonly turn: TurnId | null
  readonly report: RestoreReport
  readonly pushedAt: string | null
}

/** A plan made by `preview`, kept until it is used or too old. `request` and `plan` are the maker's own JSON. */
export interface PlanRow {
  readonly token: string
  readonly workspace: WorkspaceId
  /** Given by the service for a remote restore; null for a local preview. */
  readonly restore: RestoreId | null
  readonly request: string
  readonly plan: string
  readonly createdMs: number
  readonly usedMs: number | null
}

/** Where a workspace's chain ended as its latest turn began, to be told to the service. */
export interface HeadItem {
  readonly workspace: WorkspaceId
  /** Of the last envelope that was signed then; 0 and null when there was none. */
  readonly seq: number
  readonly sha256: string | null
  /** Number of the turn that began. */
  readonly number: number
  readonly at: string
}

/** A restore that has begun to write. One per workspace at most; there is none when nothing is unfinished. */
export interface JournalRow {
  readonly workspace: WorkspaceId
  readonly restore: RestoreId
  /** The maker's own JSON: the full plan with from and to states. */
  readonly plan: string
  readonly startedAt: string
}

/** Who may look at, and write, one tree now. Taken by {@link Leases.run}; asked for as proof. */
export interface Lease {
  readonly workspace: WorkspaceId
  readonly purpose: 'capture' | 'restore'
  /**
   * To be asked before anything is written: a process that was stopped for long, in a container that others can not look
   * into, may not be the holder any more.
   * @throws LEASE_LOST
   */
  check(): void
}

export interface Leases {
  /**
   * Runs `work` as the only one in this workspace; a nested workspace shares its outer one's lease. Waits up to
   * `waitSeconds` (10 when not given) for another holder that lives; a dead one's lease is taken over.
   * @throws RESTORE_RUNNING or STORE_LOCKED, by what the other one is doing
   */
  run<T>(
    workspace: Workspace,
    purpose: Lease['purpose'],
    work: (lease: Lease) => Promise<T>,
    waitSeconds?: number,
  ): Promise<T>
  /** True while others of this process wait for it: whoever is in no hurry lets them go first. */
  isWanted(workspace: Workspace): boolean
  /** What holds it now and lives, or null. */
  findHolder(workspace: Workspace): { readonly pid: number; readonly purpose: Lease['purpose'] } | null
}

/** The log of one machine: workspaces, turns, changes, restores. SQLite; every write is in a transaction. */
export interface Log extends GapLog {
  /** Runs `work` in one immediate transaction: all of it is kept, or none. Called inside itself it joins in. */
  transact<T>(work: () => T): T

  listWorkspaces(): Workspace[]
  findWorkspace(workspace: WorkspaceId): Workspace | null

  /** Oldest first, open ones too. */
  listTurns(workspace: WorkspaceId): TurnRow[]
  findTurn(turn: TurnId): TurnRow | null
  listOpenTurns(workspace: WorkspaceId): TurnRow[]
  listToolEvents(turn: TurnId): ToolEvent[]
  /** The signed manifest's value. @throws TURN_NOT_FOUND for an open turn or none */
  getManifest(turn: TurnId): TurnManifest
  /** All changes (none of restores: those are in {@link listRestoreEvents}), or those of the given paths, by scan. */
  listChanges(workspace: WorkspaceId, paths?: readonly RelPath[]): Change[]
  /** Those of this scan and later ones. */
  listChangesSince(workspace: WorkspaceId, scan: number): Change[]
  /** The paths that changed in this scan or later. */
  listPathsSince(workspace: WorkspaceId, scan: number): RelPath[]
  listRestoreEvents(workspace: WorkspaceId): RestoreEvent[]
  listRestores(workspace: WorkspaceId): RestoreRow[]
  /** The tree as the last scan, or the last restore, left it. Directories included, the root not. */
  getKnownTree(workspace: WorkspaceId): Tree
  /** Paths whose bytes leave the machine only sealed: those that ever were, whatever rules say now. */
  isSealedPath(workspace: WorkspaceId, path: RelPath): boolean

  findJournal(workspace: WorkspaceId): JournalRow | null
  putJournal(row: JournalRow): void
  deleteJournal(workspace: WorkspaceId): void

  findPlan(token: string): PlanRow | null
  findPlanOfRestore(restore: RestoreId): PlanRow | null
  putPlan(row: PlanRow): void
  /** @returns false when it was used already */
  usePlan(token: string, nowMs: number): boolean
  deletePlansBefore(createdMs: number): void

  /** Envelopes that the server has not, in the order of their chain. */
  listOutbox(workspace: WorkspaceId, limit?: number): OutboxItem[]
  countOutbox(): { readonly unpushed: number; readonly setAside: number }
  /** Turns that could not be sent as they are, with the reason; also when the server has a stub for them. */
  listSetAside(): { readonly turn: TurnId; readonly workspace: WorkspaceId; readonly why: string }[]
  /** Length of the chain that was made, and its last hash: what a new turn announces. Null when it is empty. */
  findHead(workspace: WorkspaceId): { readonly seq: number; readonly sha256: string } | null
  /** The signed envelope as zstd bytes: what is sent, unchanged. @throws TURN_NOT_FOUND */
  getEnvelopeZstd(turn: TurnId): Uint8Array
  markPushed(turn: TurnId, pushedAt: string): void
  setAside(turn: TurnId, why: string): void
  /** Everything is to be offered again. For another server, what was set aside is tried as it is once more. */
  markAllUnpushed(forgetSetAside: boolean): void

  /** Puts a workspace's head where it waits to be sent, in place of an older one: the latest says all that they said. */
  putHeadToPush(head: HeadItem): void
  listHeadsToPush(): HeadItem[]
  /** Forgets it, unless a newer one came meanwhile. */
  deleteHeadToPush(head: HeadItem): void

  listReportsToPush(limit?: number): ReportItem[]
  /** Of the same reports the names alone. */
  listReportNamesToPush(limit?: number): RestoreId[]
  markReportPushed(restore: RestoreId, pushedAt: string): void

  /** Small facts that belong to nobody else: cursor positions, last error. Null when never set. */
  findFact(key: string): string | null
  putFact(key: string, value: string | null): void
}

/** Reads the user's tree. Paths are walked part by part and links are never followed. */
export interface WorkTree {
  /**
   * The state of one path now, from the disk, with the blob's id computed but nothing stored. `sealed` says by
   * which kind of id a file is to be named, so that the answer can be compared with a recorded state.
   */
  look(workspace: Workspace, path: RelPath, sealed: boolean): State
  /** Bytes of a regular file. @throws what the file system says */
  readFile(workspace: Workspace, path: RelPath): Uint8Array
}

export type { GapRow, ListedTurnRow, RemovedTurnRow } from './gap-ports.ts'
export type { AgentProcess, Processes, ProcessName } from './process-ports.ts'
export type { Capture, CheckpointRequest, RestoreRecord } from './record-ports.ts'
export type { BegunStep, FolderMode, Present, StepOutcome, TreeStep, TreeWriter } from './write-ports.ts'

/** What git says of a folder, read from its files without running it. All null in a folder without git. */
export interface GitState {
  readonly head: string | null
  readonly branch: string | null
  readonly operation: string | null
  /** True when there is a `.git` that could not be read. */
  readonly unreadable: boolean
}

export interface MachineIdentity {
  readonly machine: MachineId
  /** 32 raw bytes of the Ed25519 public key, base64url. */
  readonly publicKey: string
  /** `age1…`: what this machine seals to. */
  readonly ageRecipient: string
  readonly ageIdentity: string
  /** A signed envelope around `body`, as bytes. */
  signEnvelope(type: EnvelopeType, body: Uint8Array): Uint8Array
  /** Bare Ed25519, base64url: for signed requests. */
  sign(bytes: Uint8Array): string
}

/** Where things lie: `$TURNBACK_HOME` when set, else the XDG folders. All absolute; folders are made 0700. */
export interface Home {
  readonly config: string
  readonly store: string
  readonly keys: string
  readonly logs: string
  readonly socket: string
}

export interface Config {
  /** Bytes above which a file is recorded as skipped `too-large`. */
  readonly maxFileBytes: number
  /** Shown as the budget in `status`; retention works towards it. */
  readonly diskBudgetBytes: number
  /** Turns that ended before this many days go. */
  readonly retentionDays: number
  /** At most this many turns of a workspace stay. */
  readonly retentionTurns: number
  /** `off`: the resident client looks at the whole tree each time instead of hearing of changes. */
  readonly watch: 'auto' | 'off'
  /** Paths below a workspace's root that are captured whatever the rules say of them. */
  readonly include: readonly RelPath[]
}

/** All that a command needs. Made once per process by deps.ts; close it at the end. */
export interface Deps {
  readonly clock: Clock
  readonly processes: Processes
  readonly home: Home
  readonly config: Config
  readonly log: Log
  readonly blobs: BlobStore
  readonly leases: Leases
  readonly capture: Capture
  readonly worktree: WorkTree
  /** The hand that writes into a workspace's tree, for one restore: worktree/tree-writer.ts. */
  writer(workspace: Workspace, restore: RestoreId): TreeWriter
  /** Made on first use: the keys of this machine. */
  identity(): MachineIdentity
  /** Fresh random bytes. */
  random(bytes: number): Uint8Array
  git(root: string): GitState
  /** Whether names that differ in letter case only are one name below this root. */
  ignoresCase(root: string): boolean
  close(): void
}
