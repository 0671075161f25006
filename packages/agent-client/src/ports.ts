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

export interface MachineIdentity {
  readonly machine: MachineId
  /** Ed25519 over `signedPrefix` and body. */
  sign(bytes: Uint8Array): Uint8Array
}

export type Outcome = { readonly ok: true } | { readonly ok: false; readonly error: DomainError }
