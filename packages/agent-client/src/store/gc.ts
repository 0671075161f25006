import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BlobId,
  chooseCut,
  DomainError,
  type ErrorCode,
  listCleanCuts,
  type RestoreFacts,
  type RetentionInput,
  type WorkspaceId,
} from '@turnback/core'
import type { Leases, Workspace } from '#ports.ts'
import { BlobMarks } from './blob-marks.ts'
import type { PackedBlobs } from './blob-store.ts'
import { chooseCuts, type Limits } from './choose-cuts.ts'
import { COLD_MS, compact } from './compact.ts'
import { cutLog, dropReleased } from './cut-log.ts'
import type { Database } from './database.ts'
import { takeExclusive } from './exclusive.ts'
import { findGap } from './gap-rows.ts'
import { forgetWorkspace, isForgotten } from './gone-workspaces.ts'
import type { SqliteLog } from './log.ts'
import { describeOverBudget, type OverBudget } from './over-budget.ts'
import type { PackFolder } from './pack-folder.ts'
import { repack } from './repack.ts'
import { keepReserve, releaseReserve } from './reserve.ts'
import { readRetentionInput } from './retention-log.ts'
import { integer } from './rows.ts'
import { condemn, GRACE_MS, sweep } from './sweep.ts'

/** Changes that one transaction removes: it is over before anybody notices. */
const CHANGES_AT_ONCE = 2_000
/** The same on a full disk, and the pages of the log that are written before they are brought to their place. */
const TIGHT = { changes: 50, pages: 64 } as const
/** Free pages of the log are given back when they are this many, and this part of it, and it is not bigger than that. */
const FREE_BYTES = 1024 * 1024
const FREE_PART = 0.25
const TIDY_BYTES = 64 * 1024 * 1024

export interface GcParts {
  /** The store's folder. */
  readonly store: string
  readonly db: Database
  readonly packs: PackFolder
  readonly log: SqliteLog
  readonly blobs: PackedBlobs
  readonly leases: Leases
  readonly limits: Limits
  readonly isLoggedIn: boolean
  readonly nowMs: number
  readonly listRestoreFacts: (workspace: WorkspaceId) => RestoreFacts[]
  /** Told what is done now. */
  readonly progress: (step: string) => void
  /** Between steps: gives others the time, and tells whether to stop. */
  readonly pause: () => Promise<boolean>
  /** Nothing is done to packs: the database is a copy. */
  readonly isDryRun: boolean
  /** How long ago a blob was captured that is put together with others: {@link COLD_MS} when not given. */
  readonly coldMs?: number
  /** For tests: a shorter one than {@link GRACE_MS}. */
  readonly graceMs?: number
  /** Changes that one step removes: {@link CHANGES_AT_ONCE} when not given. */
  readonly changesAtOnce?: number
}

export interface GcResult {
  readonly turns: number
  /** Workspaces whose folder is gone for long, and that were forgotten. */
  readonly workspaces: number
  readonly blobs: number
  /** What the removed blobs took. */
  readonly bytes: number
  /** Blobs that were put together with others like them. */
  readonly compacted: number
  /** What the store takes on the disk less than before. Room is given back when enough of a pack is free. */
  readonly bytesFreed: number
  /** Workspaces that were busy, and that the next run looks at. */
  readonly busy: number
  /** Why not all room could be given back, or null. */
  readonly trouble: ErrorCode | null
  /** Null when the store is not larger than it should be, or would not be. */
  readonly overBudget: OverBudget | null
}

/**
 * Removes what retention does not keep. Every step is complete by itself, so that it can be ended at any moment.
 * @throws STORE_LOCKED when another one runs
 */
export async function collectGarbage(parts: GcParts): Promise<GcResult> {
  const lock = takeExclusive(join(parts.store, 'gc.lock'))
  if (lock === null) throw new DomainError('STORE_LOCKED', { why: 'gc' })
  try {
    return await collectWithRoom(parts)
  } finally {
    lock.release()
  }
}

async function collectWithRoom(parts: GcParts): Promise<GcResult> {
  const gone: Gone = { turns: 0, workspaces: 0 }
  if (parts.isDryRun) return collect(parts, gone)
  let result: GcResult
  try {
    result = await collect(parts, gone)
  } catch (error) {
    if (!isFull(error)) throw error
    if (!releaseReserve(parts.store)) throw noRoomForGc(error, gone)
    parts.db.exec(`PRAGMA wal_autocheckpoint = ${TIGHT.pages}`)
    result = await collectTightly(parts, gone)
  }
  keepReserve(parts.store)
  return result
}

async function collectTightly(parts: GcParts, gone: Gone): Promise<GcResult> {
  try {
    return await collect({ ...parts, changesAtOnce: TIGHT.changes }, gone)
  } catch (error) {
    throw isFull(error) ? noRoomForGc(error, gone) : error
  }
}

/** What was removed from the log so far: it stays removed, whatever comes after. */
interface Gone {
  turns: number
  workspaces: number
}

function isFull(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'STORE_FULL'
}

function noRoomForGc({ details, cause }: DomainError, { turns }: Gone): DomainError {
  const removed = turns === 0 ? 'no turn' : turns === 1 ? 'one turn' : `${turns} turns`
  const message = `The disk that holds the store is full, and gc has to write a little before it can remove something; ${removed} could be removed.`
  return new DomainError('STORE_FULL', { ...details, turns }, { message, cause })
}

async function collect(parts: GcParts, gone: Gone): Promise<GcResult> {
  const { db, packs, progress } = parts
  const before = packs.bytesInPacks() + sizeOfLog(parts.store)
  progress('looking')
  const marks = new BlobMarks(db, parts.log)
  forgetGone(parts, gone)
  const busy = await cutLogs(parts, marks, gone)
  progress('blobs')
  const how = { db, marks, nowMs: parts.nowMs, graceMs: parts.graceMs ?? GRACE_MS }
  condemn(how)
  const swept = await sweep({ ...how, isAnyoneAtWork: () => isAnyoneAtWork(parts), pause: parts.pause })
  const room = parts.isDryRun ? NOTHING : await makeRoom(parts, how)
  const bytesFreed = parts.isDryRun ? 0 : before - packs.bytesInPacks() - sizeOfLog(parts.store)
  const size = {
    bytes: before - (parts.isDryRun ? swept.bytes : bytesFreed),
    budgetBytes: parts.limits.budgetBytes,
  }
  return {
    ...gone,
    ...swept,
    ...room,
    bytesFreed,
    busy,
    overBudget: describeOverBudget(db, parts.log.listWorkspaces(), size, parts),
  }
}

const NOTHING: Pick<GcResult, 'compacted' | 'trouble'> = { compacted: 0, trouble: null }

/** Frees what is of no use any more. What goes wrong with that is told, and nothing is lost by it. */
async function makeRoom(
  parts: GcParts,
  how: { readonly nowMs: number },
): Promise<Pick<GcResult, 'compacted' | 'trouble'>> {
  const { db, packs, blobs, pause, progress } = parts
  const check = (blob: BlobId) => blobs.readPieces(blob, () => {})
  let compacted = 0
  try {
    progress('packs')
    // First, so that there is room for the new packs.
    await repack({ db, packs, check, pause })
    progress('blocks')
    compacted = await compact({ ...how, db, packs, blobs, coldMs: parts.coldMs ?? COLD_MS, pause })
    if (compacted > 0) await repack({ db, packs, check, pause })
    if (!isAnyoneAtWork(parts)) tidyLog(db)
    return { compacted, trouble: null }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { compacted, trouble: error.code }
  }
}

function isAnyoneAtWork({ log, leases }: GcParts): boolean {
  return log.listWorkspaces().some((workspace) => leases.findHolder(workspace) !== null)
}

/** Gives back the pages of removed rows, if they are many and the log is small enough that it takes no time. */
function tidyLog(db: Database): void {
  const pageBytes = Number(db.get('PRAGMA page_size')?.page_size)
  const all = Number(db.get('PRAGMA page_count')?.page_count) * pageBytes
  const free = Number(db.get('PRAGMA freelist_count')?.freelist_count) * pageBytes
  if (free < FREE_BYTES || free < all * FREE_PART || all > TIDY_BYTES) return
  db.exec('VACUUM')
  // Passive: it waits for nobody, and keeps nobody waiting.
  db.exec('PRAGMA wal_checkpoint(PASSIVE)')
}

function forgetGone({ db, log, limits, isLoggedIn, nowMs }: GcParts, gone: Gone): void {
  for (const workspace of log.listWorkspaces()) {
    if (!isForgotten(db, workspace, { nowMs, days: limits.retentionDays, isLoggedIn })) continue
    gone.turns += forgetWorkspace(db, workspace.id)
    gone.workspaces++
  }
}

/** @returns how many workspaces were busy */
async function cutLogs(parts: GcParts, marks: BlobMarks, gone: Gone): Promise<number> {
  const { db, log, limits, nowMs } = parts
  const how = { nowMs, isLoggedIn: parts.isLoggedIn }
  const inputs = new Map(log.listWorkspaces().map(({ id }) => [id, readRetentionInput(db, id, how)]))
  marks.collect()
  const cuts = chooseCuts(inputs, limits, marks, nowMs, sizeOfLog(parts.store))
  let busy = 0
  for (const workspace of log.listWorkspaces()) {
    const cut = cuts.get(workspace.id)
    const input = inputs.get(workspace.id)
    if (cut !== undefined && input !== undefined) {
      const isBusy = await cutInSteps(parts, workspace, { input, cut }, gone)
      if (isBusy) busy++
    }
    gone.turns += dropReleased(parts, workspace.id)
    if (await parts.pause()) break
  }
  return busy
}

function sizeOfLog(store: string): number {
  return statSync(join(store, 'turnback.db'), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Cuts a log a little at a time. Nobody may plan a restore meanwhile, so each step holds the workspace's lease; whoever
 * wants it waits for that step, and one who has it is not waited for.
 * @returns whether somebody had it
 */
async function cutInSteps(
  parts: GcParts,
  workspace: Workspace,
  { input, cut }: { readonly input: RetentionInput; readonly cut: number },
  gone: Gone,
): Promise<boolean> {
  const { log, leases, nowMs } = parts
  for (const scan of stepsTo(parts, workspace.id, input, cut)) {
    parts.progress(`turns of ${workspace.root}`)
    try {
      await leases.run(
        workspace,
        'capture',
        async () => {
          // What an interrupted restore is about is needed until it is finished.
          if (log.findJournal(workspace.id) !== null || !isStillFree(parts, workspace.id, scan)) return
          gone.turns += cutLog(parts, workspace.id, scan, new Date(nowMs).toISOString()).turns
        },
        0,
      )
    } catch (error) {
      const isBusy =
        error instanceof DomainError && (error.code === 'STORE_LOCKED' || error.code === 'RESTORE_RUNNING')
      if (!isBusy) throw error
      return true
    }
    if (await parts.pause()) break
  }
  return false
}

/** Looked at again with the lease: a restore, or a pin, may have come since the cut was chosen. */
function isStillFree(parts: GcParts, workspace: WorkspaceId, scan: number): boolean {
  const { db, nowMs, isLoggedIn } = parts
  const input = readRetentionInput(db, workspace, { nowMs, isLoggedIn })
  const furthest = chooseCut(input, { beforeMs: Number.POSITIVE_INFINITY, turns: 0 })
  return furthest !== null && scan <= furthest && listCleanCuts(input).includes(scan)
}

/** Clean cuts up to the wanted one, each with not much more than a bounded number of changes. */
function stepsTo(
  { db, changesAtOnce = CHANGES_AT_ONCE }: GcParts,
  workspace: WorkspaceId,
  input: RetentionInput,
  cut: number,
): number[] {
  const from = findGap(db, workspace)?.scan ?? 0
  const steps: number[] = []
  let [last, changes] = [from, 0]
  for (const next of listCleanCuts(input)) {
    if (next > cut) break
    const sql = 'SELECT COUNT(*) AS n FROM changes WHERE workspace = ? AND scan > ? AND scan <= ?'
    changes += integer(db.get(sql, workspace, last, next) ?? {}, 'n')
    last = next
    if (changes < changesAtOnce && next !== cut) continue
    steps.push(next)
    changes = 0
  }
  return steps
}
