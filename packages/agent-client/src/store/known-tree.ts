import {
  type BlobId,
  invariant,
  nameOf,
  parentOf,
  type RelPath,
  type SkippedPath,
  type SkipReason,
  type State,
  type WorkspaceId,
} from '@turnback/core'
import type { KnownEntry, KnownFolder, KnownTree } from '#capture-ports.ts'
import type { Database } from './database.ts'
import { integer, json, jsonOrNull, text } from './rows.ts'

/**
 * The tree as the last scan left it, one row per directory: thousands of rows per scan would take longer than the
 * scan. Entries are JSON arrays: name, state, stamp and what only some have.
 */
type Packed = readonly [
  name: string,
  kind: 'f' | 'l' | 'd' | 's',
  /** Blob, link text, nothing, reason. */
  what: string,
  /** Mode of a file or directory. */
  mode: number,
  /** Of a file, or of what was skipped; -1 when not known. */
  sizeBytes: number,
  stamp: string,
  extra?: Pick<KnownEntry, 'below' | 'watched'>,
]

/** What one folder adds to the summary of its tree. */
interface Share {
  readonly files: number
  readonly skipped: readonly SkippedPath[]
}

/** One tree in memory, with its summary. */
class TreeInMemory {
  readonly folders = new Map<RelPath, KnownFolder>()
  readonly #shares = new Map<RelPath, number>()
  readonly #skipped = new Map<RelPath, readonly SkippedPath[]>()
  #files = 0

  set(folder: RelPath, known: KnownFolder, { files, skipped }: Share): void {
    this.folders.set(folder, known)
    this.#files += files - (this.#shares.get(folder) ?? 0)
    this.#shares.set(folder, files)
    if (skipped.length > 0) this.#skipped.set(folder, skipped)
    else this.#skipped.delete(folder)
  }

  delete(folder: RelPath): void {
    this.folders.delete(folder)
    this.#files -= this.#shares.get(folder) ?? 0
    this.#shares.delete(folder)
    this.#skipped.delete(folder)
  }

  summarise(): { files: number; skipped: SkippedPath[] } {
    return { files: this.#files, skipped: [...this.#skipped.values()].flat() }
  }
}

/**
 * The known trees, kept in memory while nobody else writes to the store: reading one back from its rows takes
 * longer than to look at what has changed.
 */
export class KnownTrees {
  readonly #db: Database
  readonly #trees = new Map<WorkspaceId, TreeInMemory>()
  #foreignVersion = -1

  constructor(db: Database) {
    this.#db = db
  }

  load(workspace: WorkspaceId): KnownTree {
    return this.#load(workspace).folders
  }

  /** Inside a transaction. */
  save(workspace: WorkspaceId, folders: ReadonlyMap<RelPath, KnownFolder | null>): void {
    if (folders.size === 0) return
    invariant(this.#db.isInTransaction, 'the known tree changes with the log')
    const tree = this.#load(workspace)
    this.#db.afterRollback(() => this.#trees.delete(workspace))
    for (const [folder, known] of folders) {
      if (known === null) {
        tree.delete(folder)
        this.#db.run('DELETE FROM known_folders WHERE workspace = ? AND folder = ?', workspace, folder)
        continue
      }
      const share = summarise(folder, known)
      tree.set(folder, known, share)
      this.#db.run(
        `INSERT OR REPLACE INTO known_folders(workspace, folder, stamp, unlisted, entries, files, skipped)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
        workspace,
        folder,
        known.stamp,
        known.unlisted ? 1 : 0,
        JSON.stringify([...known.entries].map(([name, entry]) => pack(name, entry))),
        share.files,
        share.skipped.length === 0 ? null : JSON.stringify(share.skipped),
      )
    }
  }

  /** Files in the tree, and everything in it whose bytes were not captured. */
  summarise(workspace: WorkspaceId): { files: number; skipped: SkippedPath[] } {
    return this.#load(workspace).summarise()
  }

  /** Gives bytes other names, per path. Inside a transaction. */
  rename(workspace: WorkspaceId, names: ReadonlyMap<RelPath, ReadonlyMap<BlobId, BlobId>>): void {
    const known = this.load(workspace)
    const changed = new Map<RelPath, KnownFolder>()
    for (const [path, blobs] of names) {
      const folder = changed.get(parentOf(path)) ?? known.get(parentOf(path))
      const entry = folder?.entries.get(nameOf(path))
      if (folder === undefined || entry?.state.kind !== 'file') continue
      const to = blobs.get(entry.state.blob)
      if (to === undefined) continue
      const entries = new Map(folder.entries).set(nameOf(path), {
        ...entry,
        state: { ...entry.state, blob: to },
      })
      changed.set(parentOf(path), { ...folder, entries })
    }
    this.save(workspace, changed)
  }

  #load(workspace: WorkspaceId): TreeInMemory {
    const version = this.#db.foreignVersion
    if (version !== this.#foreignVersion) this.#trees.clear()
    this.#foreignVersion = version
    const found = this.#trees.get(workspace)
    if (found !== undefined) return found
    const tree = this.#read(workspace)
    this.#trees.set(workspace, tree)
    return tree
  }

  #read(workspace: WorkspaceId): TreeInMemory {
    const tree = new TreeInMemory()
    const sql =
      'SELECT folder, stamp, unlisted, entries, files, skipped FROM known_folders WHERE workspace = ?'
    for (const row of this.#db.all(sql, workspace)) {
      const entries = new Map<string, KnownEntry>()
      for (const packed of json<Packed[]>(row, 'entries')) entries.set(packed[0], unpack(packed))
      const known = { stamp: text(row, 'stamp'), unlisted: row.unlisted === 1, entries }
      const skipped = jsonOrNull<SkippedPath[]>(row, 'skipped') ?? []
      tree.set(text(row, 'folder'), known, { files: integer(row, 'files'), skipped })
    }
    return tree
  }
}

function summarise(
  folder: RelPath,
  { entries, unlisted }: KnownFolder,
): { files: number; skipped: SkippedPath[] } {
  const skipped: SkippedPath[] = []
  let files = 0
  if (unlisted && folder !== '') skipped.push({ path: folder, reason: 'unreadable' })
  for (const [name, { state, below }] of entries) {
    if (state.kind === 'file') files++
    if (state.kind !== 'skipped') continue
    const sizeBytes = below?.sizeBytes ?? state.sizeBytes
    skipped.push({
      path: folder === '' ? name : `${folder}/${name}`,
      reason: state.reason,
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
      ...(below === undefined ? {} : { count: below.count }),
    })
  }
  return { files, skipped }
}

function pack(name: string, entry: KnownEntry): Packed {
  const { state, stamp } = entry
  const extra = {
    ...(entry.below === undefined ? {} : { below: entry.below }),
    ...(entry.watched === undefined ? {} : { watched: entry.watched }),
  }
  const rest = Object.keys(extra).length === 0 ? ([] as const) : ([extra] as const)
  switch (state.kind) {
    case 'file':
      return [name, 'f', state.blob, state.mode, state.sizeBytes, stamp, ...rest]
    case 'symlink':
      return [name, 'l', state.target, 0, -1, stamp, ...rest]
    case 'dir':
      return [name, 'd', '', state.mode, -1, stamp, ...rest]
    case 'skipped':
      return [name, 's', state.reason, 0, state.sizeBytes ?? -1, stamp, ...rest]
    case 'absent':
      throw new Error('invariant: an absent path is not listed')
  }
}

function unpack([, kind, what, mode, sizeBytes, stamp, extra]: Packed): KnownEntry {
  return { state: unpackState(kind, what, mode, sizeBytes), stamp, ...extra }
}

function unpackState(kind: Packed[1], what: string, mode: number, sizeBytes: number): State {
  switch (kind) {
    case 'f':
      return { kind: 'file', blob: what as BlobId, sizeBytes, mode }
    case 'l':
      return { kind: 'symlink', target: what }
    case 'd':
      return { kind: 'dir', mode }
    case 's':
      return sizeBytes < 0
        ? { kind: 'skipped', reason: what as SkipReason }
        : { kind: 'skipped', reason: what as SkipReason, sizeBytes }
  }
}
