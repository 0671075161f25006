import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { WorkspaceId } from '@turnback/core'
import type { Workspace } from '#ports.ts'
import type { Database } from './database.ts'
import { integer } from './rows.ts'

const DAY_MS = 86_400_000
const TABLES = [
  'changes',
  'restores',
  'envelopes',
  'listings',
  'removed_turns',
  'gaps',
  'known_folders',
  'first_reads',
  'sealed_paths',
  'plans',
  'leases',
  'turns',
] as const

/**
 * Whether the folder was removed, on positive evidence: its parent is there, on the device that the folder was on. A disk
 * that is unplugged, a mount that is not there or a folder that cannot be looked at removes nothing.
 */
export function isRemoved({ root, device, inode }: Pick<Workspace, 'root' | 'device' | 'inode'>): boolean {
  const there = look(root)
  if (there === 'unknown') return false
  // Another folder in its place: this one is gone, if it was on the same device.
  if (there !== 'absent') return there.device === device && there.inode !== inode
  const parent = look(dirname(root))
  return parent !== 'unknown' && parent !== 'absent' && parent.device === device
}

function look(path: string): { device: string; inode: string } | 'absent' | 'unknown' {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return { device: String(dev), inode: String(ino) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'unknown'
  }
}

/**
 * Notes since when a workspace's folder is gone, and tells whether that, and everything that happened in it, is so long
 * ago that nothing of it is kept.
 */
export function isForgotten(
  db: Database,
  workspace: Workspace,
  how: { readonly nowMs: number; readonly days: number; readonly isLoggedIn: boolean },
): boolean {
  const key = `gc.gone.${workspace.id}`
  if (!isRemoved(workspace)) {
    db.transact(() => db.run('DELETE FROM facts WHERE key = ?', key))
    return false
  }
  const known = db.get('SELECT value FROM facts WHERE key = ?', key)?.value
  if (known === undefined) {
    db.transact(() => db.run('INSERT INTO facts(key, value) VALUES (?, ?)', key, String(how.nowMs)))
    return false
  }
  const before = how.nowMs - how.days * DAY_MS
  return Number(known) <= before && !isNeeded(db, workspace.id, before, how.isLoggedIn)
}

/** Something young, pinned, unsent or unfinished keeps the whole. */
function isNeeded(db: Database, workspace: WorkspaceId, beforeMs: number, isLoggedIn: boolean): boolean {
  const row = db.get(
    `SELECT COUNT(*) AS n FROM turns t LEFT JOIN envelopes e ON e.turn = t.id
      WHERE t.workspace = ?1 AND (t.pinned = 1 OR COALESCE(t.ended_at, t.started_at) >= ?2
        OR (t.is_open = 0 AND ?3 = 1 AND e.pushed_at IS NULL))`,
    ...[workspace, new Date(beforeMs).toISOString(), isLoggedIn ? 1 : 0],
  )
  const isUnfinished = db.get('SELECT 1 FROM journal WHERE workspace = ?', workspace) !== undefined
  return isUnfinished || integer(row ?? {}, 'n') > 0
}

/** Removes all that is known of a workspace but the reports of its restores. @returns how many turns */
export function forgetWorkspace(db: Database, workspace: WorkspaceId): number {
  return db.transact(() => {
    for (const table of ['events', 'checklist_news'])
      db.run(`DELETE FROM ${table} WHERE turn IN (SELECT id FROM turns WHERE workspace = ?)`, workspace)
    const row = db.get('SELECT COUNT(*) AS n FROM turns WHERE workspace = ?', workspace)
    for (const table of TABLES) db.run(`DELETE FROM ${table} WHERE workspace = ?`, workspace)
    db.run('DELETE FROM facts WHERE key IN (?, ?)', `gc.gone.${workspace}`, `head.${workspace}`)
    db.run('DELETE FROM workspaces WHERE id = ?', workspace)
    return integer(row ?? {}, 'n')
  })
}
