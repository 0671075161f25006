import {
  ABSENT,
  type BlobId,
  type Entry,
  invariant,
  isSealed,
  nameOf,
  parentOf,
  type RelPath,
  type RestoreDetail,
  type RestoreReport,
  type State,
} from '@turnback/core'
import type { CaptureDeps, KnownEntry, KnownFolder } from '#capture-ports.ts'
import type { RestoreRecord, TurnRow, Workspace } from '#ports.ts'
import { getTurn } from './close-turn.ts'
import { countEntries } from './entries.ts'
import { signTurn } from './sign-turns.ts'

/** Makes the turn that a restore is; see {@link Capture.recordRestore}. */
export function recordRestore(deps: CaptureDeps, workspace: Workspace, record: RestoreRecord): TurnRow {
  return deps.log.transact(() => {
    deps.blobs.flush()
    deps.blobs.confirm(blobsOf(record))
    const scan = deps.captureLog.takeScan(workspace.id)
    const detail: RestoreDetail = { ...record.detail, scan }
    const git = deps.git(workspace.root)
    deps.captureLog.insertTurn({
      turn: record.turn,
      workspace: workspace.id,
      kind: 'restore',
      session: null,
      key: null,
      agent: null,
      prompt: null,
      label: null,
      task: null,
      startedAt: record.startedAt,
      headBefore: git.head,
      branch: git.branch,
      operation: git.operation,
      beginScan: scan,
      paths: null,
      lateStart: false,
      incomplete: null,
      agentProcess: null,
      isUnseen: false,
      missed: null,
    })
    const entries = record.entries.map((entry) => toEntry(entry, scan))
    deps.captureLog.closeTurn({
      turn: record.turn,
      endedAt: record.report.endedAt,
      endReason: 'completed',
      lateEnd: false,
      headAfter: git.head,
      branch: git.branch,
      lastMessage: null,
      endScan: scan,
      incomplete: null,
      ...countEntries(entries),
      skipped: record.report.skipped.length,
    })
    rememberWritten(deps, workspace, record.written)
    deps.captureLog.insertRestore(workspace.id, record.turn, detail, record.report)
    deps.captureLog.insertReport(workspace.id, record.report, record.report.endedAt)
    deps.log.deleteJournal(workspace.id)
    const row = getTurn(deps, record.turn)
    signTurn(deps, workspace, row, entries, detail)
    return row
  })
}

/** What the restore made, and what it gave back: all of it is to be in the store once the log names it. */
function* blobsOf({ entries, detail }: RestoreRecord): Generator<BlobId> {
  for (const { before, after } of [...entries, ...detail.pushed])
    for (const state of [before, after]) if (state.kind === 'file') yield state.blob
}

export function recordReport(deps: CaptureDeps, workspace: Workspace, report: RestoreReport): void {
  invariant(report.turn === null, 'a restore that made a turn is recorded with it')
  deps.log.transact(() => deps.captureLog.insertReport(workspace.id, report, report.endedAt))
}

function toEntry({ path, before, after }: Pick<Entry, 'path' | 'before' | 'after'>, scan: number): Entry {
  const sealed = [before, after].some((state) => state.kind === 'file' && isSealed(state.blob))
  return { path, before, after, source: 'tool', scan, steps: null, sealed }
}

/** The next scan compares with this, so it takes nothing of what the restore wrote for anybody's work. */
function rememberWritten(
  deps: CaptureDeps,
  workspace: Workspace,
  written: ReadonlyMap<RelPath, State>,
): void {
  const known = deps.captureLog.loadKnown(workspace.id)
  const hadFolders = withParents(known.keys())
  const folders = new Map<RelPath, { unlisted: boolean; entries: Map<string, KnownEntry> } | null>()
  const open = (folder: RelPath) => {
    const found = folders.get(folder)
    if (found !== undefined && found !== null) return found
    const before = found === null ? undefined : known.get(folder)
    const made = { unlisted: before?.unlisted ?? false, entries: new Map(before?.entries) }
    folders.set(folder, made)
    return made
  }
  for (const [path, state] of written) {
    const { entries } = open(parentOf(path))
    const before = entries.get(nameOf(path))
    if (state.kind === ABSENT.kind) entries.delete(nameOf(path))
    // Without a stamp: the bytes are read once more by the next scan, which learns the new times.
    else entries.set(nameOf(path), { ...before, state, stamp: '' })
    if (state.kind === 'dir') open(path)
    else if (hadFolders.has(path))
      for (const folder of known.keys())
        if (folder === path || folder.startsWith(`${path}/`)) folders.set(folder, null)
  }
  // The folder's own times changed: its names are read again.
  const stampless = [...folders].map(
    ([folder, each]) => [folder, each === null ? null : { ...each, stamp: '' }] as const,
  )
  deps.captureLog.saveKnown(workspace.id, new Map<RelPath, KnownFolder | null>(stampless))
}

/** The folders and all that lie above them, up to the root. */
function withParents(folders: Iterable<RelPath>): Set<RelPath> {
  const all = new Set<RelPath>()
  for (const folder of folders)
    for (let at = folder; at !== '' && !all.has(at); at = parentOf(at)) all.add(at)
  return all
}
