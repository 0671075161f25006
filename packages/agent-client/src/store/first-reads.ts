import type { BlobId, RelPath, WorkspaceId } from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'
import type { Database } from './database.ts'
import { json, text } from './rows.ts'

/** Name, blob, length, mode and stamp of a file that was read. */
type Packed = readonly [name: string, blob: BlobId, sizeBytes: number, mode: number, stamp: string]

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
      state.kind === 'file' && stamp !== '' ? [[name, state.blob, state.sizeBytes, state.mode, stamp]] : [],
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

function unpack([, blob, sizeBytes, mode, stamp]: Packed): KnownEntry {
  return { state: { kind: 'file', blob, sizeBytes, mode }, stamp }
}
