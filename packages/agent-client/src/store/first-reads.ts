import type { BlobId, RelPath, WorkspaceId } from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'
import type { Database } from './database.ts'
import { json, text } from './rows.ts'

/** As files of the known tree are written (known-tree.ts): whoever looks for blobs that are needed finds them in both. */
type Packed = readonly [name: string, kind: 'f', blob: BlobId, mode: number, sizeBytes: number, stamp: string]

/** Files by folder and name, as a first capture that was cut off had read them. */
export type ReadFiles = ReadonlyMap<RelPath, ReadonlyMap<string, KnownEntry>>

export function loadFirstReads(db: Database, workspace: WorkspaceId): ReadFiles {
  const rows = db.all('SELECT folder, entries FROM first_reads WHERE workspace = ?', workspace)
  return new Map(
    rows.map((row) => [
      text(row, 'folder'),
      new Map(json<Packed[]>(row, 'entries').map((packed) => [packed[0], unpack(packed)])),
    ]),
  )
}

export function saveFirstReads(db: Database, workspace: WorkspaceId, files: ReadFiles): void {
  for (const [folder, entries] of files) {
    const packed = [...entries].flatMap(([name, { state, stamp }]): Packed[] =>
      state.kind === 'file' && stamp !== ''
        ? [[name, 'f', state.blob, state.mode, state.sizeBytes, stamp]]
        : [],
    )
    if (packed.length === 0) continue
    db.run(
      'INSERT OR REPLACE INTO first_reads(workspace, folder, entries) VALUES (?, ?, ?)',
      ...[workspace, folder, JSON.stringify(packed)],
    )
  }
}

export function dropFirstReads(db: Database, workspace: WorkspaceId): void {
  db.run('DELETE FROM first_reads WHERE workspace = ?', workspace)
}

function unpack([, , blob, mode, sizeBytes, stamp]: Packed): KnownEntry {
  return { state: { kind: 'file', blob, sizeBytes, mode }, stamp }
}
