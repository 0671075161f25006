import type {
  BlobId,
  Change,
  DomainError,
  EndReason,
  MachineId,
  RelPath,
  RestoreEvent,
  RestoreId,
  RestoreReport,
  SkippedPath,
  State,
  Tree,
  TurnId,
  TurnKind,
  TurnManifest,
  WorkspaceId,
} from '@turnback/core'

/**
 * What capture/ and restore/ need from the rest of the client. Concretes are wired in deps.ts. File access is
 * synchronous on purpose: it is two to four times faster than promises in a walk, and the CLI does one thing
 * at a time (docs/decisions).
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
  /** Stores bytes under their id and gives it; repeatable. Durable only after {@link BlobStore.flush}. @throws STORE_FULL */
  put(workspace: Workspace, bytes: Uint8Array, sealed: boolean): BlobId
  /** The same for a file too big to hold: reads it in pieces from an open descriptor. */
  putOpenFile(workspace: Workspace, fd: number, sizeBytes: number, sealed: boolean): BlobId
  has(id: BlobId): boolean
  /** The bytes, checked against their id. @throws BLOB_NOT_FOUND, BLOB_HASH_MISMATCH */
  read(id: BlobId): Uint8Array
  /** Calls `take` with the bytes piece by piece; the id is checked when the last piece was taken. */
  readPieces(id: BlobId, take: (piece: Uint8Array) => void): void
  /** True when `bytes` is what `id` names. Sealed ids are named under the workspace's key. */
  isNamed(workspace: Workspace, id: BlobId, bytes: Uint8Array): boolean
  /** The id that `bytes` would have, without storing anything. */
  idOf(workspace: Workspace, bytes: Uint8Array, sealed: boolean): BlobId
  /** Makes all that was put durable. Called before the log names it. */
  flush(): void
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
  /** HEAD and branch when the turn began, and when it ended. */
  readonly headBefore: string | null
  readonly headAfter: string | null
  readonly branch: string | null
  readonly created: number
  readonly changed: number
  readonly deleted: number
  readonly skipped: number
}

/** A restore's own facts, beside its turn row. */
export interface RestoreRow {
  readonly id: RestoreId
  readonly turn: TurnId
  readonly target: TurnId
  readonly takenBack: TurnId | null
  readonly of: readonly TurnId[]
  /** True when it covered all paths: then it marks turns `yes`, else `partly`. */
  readonly isWhole: boolean
  readonly report: RestoreReport
}

/** The log of one machine: workspaces, turns, changes, restores. SQLite; every write is in a transaction. */
export interface Log {
  /** Runs `work` in one immediate transaction: all of it is kept, or none. Not nested. */
  transact<T>(work: () => T): T
  listTurns(workspace: WorkspaceId): TurnRow[]
  /** All changes, or those of the given paths, in the order of scans. */
  listChanges(workspace: WorkspaceId, paths?: readonly RelPath[]): Change[]
  listRestoreEvents(workspace: WorkspaceId): RestoreEvent[]
  listRestores(workspace: WorkspaceId): RestoreRow[]
  /** The tree as the last scan left it. */
  getKnownTree(workspace: WorkspaceId): Tree
  getManifest(turn: TurnId): TurnManifest
  /** Takes the next number of a scan. Inside a transaction. */
  nextScan(workspace: WorkspaceId): number
}

/** One look at the tree, recorded: what differed was pushed to the open turns or to an `outside` turn. */
export interface ScanResult {
  readonly scan: number
  readonly tree: Tree
  readonly skipped: readonly SkippedPath[]
  readonly statted: number
  readonly hashed: number
  /** The `outside` turn that this scan made, if anything had changed with no turn open. */
  readonly outside: TurnId | null
}

/** The only hand that touches the user's tree. Paths are walked part by part and links are never followed. */
export interface WorkTree {
  /** The state of one path now, from the disk, with the blob's id computed but nothing stored. */
  look(path: RelPath): State
  readFile(path: RelPath): Uint8Array
}

/** One change of the disk: `path` is to go from one state to another. Never both kinds of directory and not at once. */
export interface TreeStep {
  readonly path: RelPath
  readonly from: State
  readonly to: State
}

/** What came of one step. Trouble with one path is data: it never ends a run. */
export type StepOutcome =
  | { readonly ok: true }
  /** The path was no longer in the state that the step begins from. It was left as it is. */
  | { readonly ok: false; readonly why: 'changed' }
  /** A parent is missing, is no directory, or is a link (which is never followed). */
  | { readonly ok: false; readonly why: 'blocked'; readonly by: 'missing' | 'not-a-directory' | 'link' }
  /** The directory holds something. */
  | { readonly ok: false; readonly why: 'not-empty' }
  /** The store does not have the bytes any more, or they are damaged. */
  | { readonly ok: false; readonly why: 'missing-blob' }
  | { readonly ok: false; readonly why: 'error'; readonly code: string; readonly reason: string }

/** A directory whose mode a restore may widen for a moment, with the mode it is to have again. */
export interface FolderMode {
  readonly path: RelPath
  readonly mode: number
}

/** What one path is on the disk. Bytes are told by {@link TreeWriter.holds}, which knows what to compare with. */
export type Present =
  | { readonly kind: 'file'; readonly sizeBytes: number; readonly mode: number }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'dir'; readonly mode: number }
  | { readonly kind: 'absent' }
  | { readonly kind: 'other' }

/**
 * Writes into one workspace for one restore. Each parent is walked part by part without following links; files
 * are written beside their place and renamed over it; nothing is ever written in place; `.git` is never touched.
 */
export interface TreeWriter {
  look(path: RelPath): Present
  /** True when the disk has the path in this very state: kind, mode, bytes, link text. */
  holds(path: RelPath, state: State): boolean
  /** @throws BLOB_NOT_FOUND when the path is no readable file. */
  readFile(path: RelPath): Uint8Array
  /** The parents of these paths that this user may not write into but owns. */
  narrowFolders(paths: readonly RelPath[]): FolderMode[]
  /** Carries one step out. `index` names its temporary file, so that a later run can tell whose it was. */
  apply(step: TreeStep, index: number): StepOutcome
  /** Makes the names in these folders durable. Folders that are gone are passed over. */
  sync(folders: readonly RelPath[]): void
  /**
   * After a run that was cut off: gives folders their mode back, removes what the run had begun to write, and
   * puts back what it had moved aside but not removed.
   */
  settle(steps: readonly TreeStep[], widened: readonly FolderMode[]): void
}

export interface MachineIdentity {
  readonly machine: MachineId
  /** Ed25519 over `signedPrefix` and body. */
  sign(bytes: Uint8Array): Uint8Array
}

export type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: DomainError }
