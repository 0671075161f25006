import { DomainError, type RelPath, type TurnId } from '@turnback/core'
import type { CaptureDeps, ChangedNames, ChangedPaths, JustEnded, KnownTree } from '#capture-ports.ts'
import type { Lease, Leases, Workspace } from '#ports.ts'
import { lookAtTree } from './look.ts'
import { type JustClosed, STAMP_TICK_MS } from './record-scan.ts'
import { signBesideOthers } from './sign-turns.ts'

/** Names that are looked at in one go: some milliseconds, for which a turn that begins may have to wait. */
const NAMES_AT_ONCE = 500
/** Long enough after a turn's end that what was written last can be told from what is written next. */
const DELAY_MS = 100

export interface Audits {
  /** Looks at the whole tree soon, and signs the turn then; signs alone when no turn was just ended by its agent. */
  schedule(workspace: Workspace, ended: JustEnded | null): void
  /** Whether a workspace's latest turn is still to be looked after: it is signed then. */
  isPending(workspace: Workspace): boolean
  /** Nothing is begun any more; what was scheduled is signed by whoever comes next. */
  close(): void
}

type Note = (event: string, facts: Readonly<Record<string, unknown>>) => void

/**
 * The whole look that follows the end of a turn that was ended by what was heard: writes through a memory map are told by
 * nobody, and directories that are left out are counted here. Nobody waits for it, and it gives way to everybody.
 */
export function createAudits(deps: CaptureDeps & { readonly leases: Leases }, note: Note): Audits {
  const timers = new Map<Workspace['id'], NodeJS.Timeout>()
  const pending = new Map<Workspace['id'], TurnId>()
  let isClosed = false
  const run = async (workspace: Workspace, ended: Ended | null) => {
    try {
      const isWhole = ended === null || (await auditTree(deps, workspace, ended, () => isClosed))
      if (!isWhole) note('audit-cut-off', { workspace: workspace.id })
      await signBesideOthers(deps, workspace, { isStopped: () => isClosed })
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const code = error instanceof DomainError ? error.code : 'INTERNAL'
      note('audit-failed', { workspace: workspace.id, code, message: error.message })
    } finally {
      if (ended !== null && pending.get(workspace.id) === ended.turn) pending.delete(workspace.id)
    }
  }
  return {
    schedule(workspace, ended) {
      // What a waiting one does in the end is to sign.
      if (isClosed || (ended === null && pending.has(workspace.id))) return
      clearTimeout(timers.get(workspace.id))
      if (ended !== null) pending.set(workspace.id, ended.turn)
      const until = ended === null ? null : { turn: ended.turn, untilMs: ended.lookedAtMs - STAMP_TICK_MS }
      timers.set(
        workspace.id,
        setTimeout(() => void run(workspace, until), DELAY_MS),
      )
    },
    isPending: (workspace) => pending.has(workspace.id),
    close() {
      isClosed = true
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

interface Ended {
  readonly turn: TurnId
  readonly untilMs: number
}

/**
 * Looks at the whole tree piece by piece, others in between. What a closed, unsigned turn changed while it was open is
 * given to it.
 * @returns false when it was not finished: a turn began, or somebody was quicker
 */
export async function auditTree(
  deps: CaptureDeps & { readonly leases: Leases },
  workspace: Workspace,
  { turn, untilMs }: Ended,
  isStopped: () => boolean,
): Promise<boolean> {
  for (const piece of piecesOf(deps.captureLog.loadKnown(workspace.id))) {
    const isDone = await deps.leases.run(workspace, 'capture', async (lease) => {
      const row = deps.log.findTurn(turn)
      const isLatest = row !== null && !row.isOpen && !deps.captureLog.isSigned(turn)
      if (isStopped() || !isLatest || deps.captureLog.hasLaterTurn(row)) return false
      await auditPiece(deps, lease, workspace, { turn: row, untilMs }, piece)
      return true
    })
    if (!isDone) return false
    // Those who wait for the lease, or for this process, come first.
    await new Promise((done) => setImmediate(done))
  }
  return true
}

async function auditPiece(
  deps: CaptureDeps,
  lease: Lease,
  workspace: Workspace,
  justClosed: JustClosed,
  piece: ChangedPaths,
): Promise<void> {
  const looked = await lookAtTree(deps, lease, workspace, {
    countExcluded: true,
    deadlineMs: null,
    late: new Set(),
    only: piece,
    justClosed,
  })
  const { folders, differences } = looked.observation
  // What came after the end is left to be found by the next turn, together with the rest of it.
  const isLater =
    differences.length > 0 && !differences.some(({ changedMs }) => changedMs <= justClosed.untilMs)
  if (folders.size > 0 && !isLater) deps.log.transact(() => looked.record())
}

/** The folders that are known, in groups. */
function* piecesOf(known: KnownTree): Generator<ChangedPaths> {
  let piece = new Map<RelPath, ChangedNames>()
  let names = 0
  // A copy: the tree that is known changes meanwhile.
  for (const [folder, { entries }] of [...known]) {
    piece.set(folder, 'all')
    names += entries.size + 1
    if (names < NAMES_AT_ONCE) continue
    yield piece
    piece = new Map()
    names = 0
  }
  if (piece.size > 0) yield piece
}
