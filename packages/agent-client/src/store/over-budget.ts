import { type KeeperName, listKeepers, type WorkspaceId } from '@turnback/core'
import type { Workspace } from '#ports.ts'
import { BLOBS_WITH_BLOCKS, DISK_BYTES } from './blob-marks.ts'
import type { Database } from './database.ts'
import { readRetentionInput } from './retention-log.ts'
import { integer } from './rows.ts'

/** Why a store is larger than it should be although everything went that may go. */
export interface OverBudget {
  readonly bytes: number
  readonly budgetBytes: number
  /** In no use any more: it goes an hour after it was captured, and when its pack is written anew. */
  readonly unusedBytes: number
  readonly workspaces: readonly {
    readonly workspace: WorkspaceId
    readonly root: string
    readonly turns: number
    /** What holds its turns, the earliest first. */
    readonly keptBy: readonly KeeperName[]
    /** Pinned turns and checkpoints: each keeps what it can be returned to. */
    readonly pinned: number
  }[]
}

export function describeOverBudget(
  db: Database,
  workspaces: readonly Workspace[],
  size: Pick<OverBudget, 'bytes' | 'budgetBytes'>,
  how: { readonly nowMs: number; readonly isLoggedIn: boolean },
): OverBudget | null {
  if (size.bytes <= size.budgetBytes) return null
  const count = (where: string, workspace: WorkspaceId) =>
    integer(db.get(`SELECT COUNT(*) AS n FROM turns WHERE workspace = ?${where}`, workspace) ?? {}, 'n')
  const unused = db.get(
    `SELECT SUM(${DISK_BYTES}) AS bytes FROM ${BLOBS_WITH_BLOCKS} WHERE b.id NOT IN (SELECT id FROM temp.marked)`,
  )
  return {
    ...size,
    unusedBytes: Math.round(Number(unused?.bytes ?? 0)),
    workspaces: workspaces.map(({ id, root }) => ({
      workspace: id,
      root,
      turns: count('', id),
      keptBy: listKeepers(readRetentionInput(db, id, how)),
      pinned: count(" AND (pinned = 1 OR (kind = 'checkpoint' AND pinned = 0))", id),
    })),
  }
}
