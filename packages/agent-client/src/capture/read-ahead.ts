import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, type RelPath, type WorkspaceId } from '@turnback/core'
import type {
  CaptureDeps,
  ChangedNames,
  ChangedPaths,
  KnownEntry,
  ReadAhead,
  TreeWatches,
} from '#capture-ports.ts'
import type { Lease, Leases, Workspace } from '#ports.ts'
import { nestedRoots } from './record-scan.ts'

/** Long enough after a change that its time proves something, and that who writes in pieces is done. */
const SETTLE_MS = 150
/** What is looked at in one go: some ten milliseconds, for which an agent may have to wait. */
const AT_ONCE = { names: 128, bytes: 16 * 1024 * 1024 } as const
/** Between two goes: longer than somebody of another process waits before asking for the tree again. */
const PAUSE_MS = 30
/** A file that is written to all the time is not read all the time: so often in a turn, and at most once in so long. */
const OFTEN = { times: 10, everyMs: 2000 } as const
/** Bigger files are read once, when the turn ends. */
const LARGEST_BYTES = 8 * 1024 * 1024

interface Reads {
  readonly entries: Map<RelPath, Map<string, KnownEntry>>
  readonly tries: Map<RelPath, { times: number; atMs: number }>
}

type Note = (event: string, facts: Readonly<Record<string, unknown>>) => void

export interface RunningReadAhead extends ReadAhead {
  close(): void
}

/**
 * Reads what an open turn changes while its agent is still at work, so that the end of the turn finds the bytes in the
 * store. Nothing of it is in the log: a look takes what was read so when the file's stamp is the same still, as it takes
 * what it knows from the look before. Whoever waits for the tree comes first.
 */
export function createReadAhead(
  deps: Omit<CaptureDeps, 'ahead'> & { readonly leases: Leases },
  watches: TreeWatches,
  note: Note,
  settleMs: number = SETTLE_MS,
): RunningReadAhead {
  const reads = new Map<WorkspaceId, Reads>()
  const timers = new Map<WorkspaceId, NodeJS.Timeout>()
  let isClosed = false
  const schedule = (workspace: WorkspaceId) => {
    if (isClosed || timers.has(workspace)) return
    const run = () => {
      timers.delete(workspace)
      void readOpenTurn(workspace)
    }
    timers.set(workspace, setTimeout(run, settleMs).unref())
  }
  const readOpenTurn = async (id: WorkspaceId) => {
    try {
      const workspace = deps.log.listWorkspaces().find((each) => each.id === id)
      if (isClosed || workspace === undefined || deps.log.listOpenTurns(id).length === 0) return
      const fresh = watches.takeFresh(workspace)
      if (fresh === null) return
      const of = reads.get(id) ?? { entries: new Map(), tries: new Map() }
      reads.set(id, of)
      for (const piece of piecesOf(chooseNames(fresh, of, performance.now()))) {
        if (isClosed || reads.get(id) !== of || deps.leases.isWanted(workspace)) return
        await deps.leases.run(
          workspace,
          'capture',
          (lease) => readPiece(deps, lease, workspace, of, piece),
          0,
        )
        await sleep(PAUSE_MS, undefined, { ref: false })
      }
    } catch (error) {
      // What could not be read ahead is read when the turn ends, and told then.
      if (!(error instanceof Error)) throw error
      if (error instanceof DomainError && BUSY.has(error.code)) return
      note('not-read-ahead', { workspace: id, message: error.message })
    }
  }
  watches.onHeard(schedule)
  return {
    find: (workspace, folder, name) => reads.get(workspace)?.entries.get(folder)?.get(name) ?? null,
    forget: (workspace) => reads.delete(workspace),
    close() {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

const BUSY: ReadonlySet<string> = new Set(['STORE_LOCKED', 'RESTORE_RUNNING'])

/** What is not written to all the time. A folder that came or went is for the look that records it. */
function chooseNames(fresh: ChangedPaths, { tries }: Reads, nowMs: number): Map<RelPath, string[]> {
  const chosen = new Map<RelPath, string[]>()
  for (const [folder, names] of fresh) {
    if (names === 'all') continue
    const some = [...names.keys()].filter((name) => {
      const path = `${folder}/${name}`
      const before = tries.get(path) ?? { times: 0, atMs: Number.NEGATIVE_INFINITY }
      if (before.times >= OFTEN.times || nowMs - before.atMs < OFTEN.everyMs) return false
      tries.set(path, { times: before.times + 1, atMs: nowMs })
      return true
    })
    if (some.length > 0) chosen.set(folder, some)
  }
  return chosen
}

function* piecesOf(names: ReadonlyMap<RelPath, readonly string[]>): Generator<ChangedPaths> {
  let piece = new Map<RelPath, ChangedNames>()
  let count = 0
  for (const [folder, all] of names) {
    for (let at = 0; at < all.length; at += AT_ONCE.names) {
      const some = all.slice(at, at + AT_ONCE.names)
      piece.set(folder, new Map(some.map((name) => [name, 'changed'])))
      count += some.length
      if (count < AT_ONCE.names) continue
      yield piece
      piece = new Map()
      count = 0
    }
  }
  if (count > 0) yield piece
}

async function readPiece(
  deps: Omit<CaptureDeps, 'ahead'>,
  _lease: Lease,
  workspace: Workspace,
  reads: Reads,
  piece: ChangedPaths,
): Promise<void> {
  const known = deps.captureLog.loadKnown(workspace.id)
  const sealed = deps.captureLog.listSealedPaths(workspace.id)
  const { folders } = await deps.looker.look(workspace, known, {
    isFirst: false,
    changed: piece,
    watching: null,
    countExcluded: false,
    deadlineMs: null,
    giveUpMs: null,
    nested: nestedRoots(deps, workspace),
    isSealed: (path) => sealed.has(path),
    readAtMost: { fileBytes: LARGEST_BYTES, bytes: AT_ONCE.bytes },
  })
  // Durable, and listed as what nobody names yet: the grace of gc is longer than it has to wait.
  deps.log.transact(() => deps.blobs.flush())
  for (const [folder, seen] of folders) {
    const before = known.get(folder)
    const entries = reads.entries.get(folder) ?? new Map<string, KnownEntry>()
    for (const [name, entry] of seen?.entries ?? []) {
      const isRead = entry.state.kind === 'file' && entry.stamp !== '' && entry !== before?.entries.get(name)
      if (isRead) entries.set(name, entry)
    }
    if (entries.size > 0) reads.entries.set(folder, entries)
  }
}
