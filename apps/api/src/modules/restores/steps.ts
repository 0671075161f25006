import { randomBytes } from 'node:crypto'
import {
  type Authoriser,
  DomainError,
  limits,
  makeId,
  type RestoreProgress,
  type RestoreStep,
  type ServerMessage,
  stepRestore,
} from '@turnback/core'
import type { Connection } from '#db/client.ts'
import { dropCommands, queueCommand } from '#modules/commands/index.ts'
import { type RestoreRow, updateRestore } from './queries.ts'

/** Whoever asked lasts longer than this for no machine. */
export const QUEUED_MS = limits.queuedTtlSeconds * 1000

function progressOf(row: RestoreRow): RestoreProgress {
  return {
    status: row.status,
    mode: row.request?.mode ?? 'preview',
    requestedAtMs: row.createdAt.getTime(),
    token: row.plan?.token ?? null,
    expiresAtMs: row.expiresAt?.getTime() ?? null,
  }
}

/**
 * Takes a step and writes down what follows: the new state, with `facts` that came along, and what the machine
 * is to be told. In the caller's transaction, with the row locked.
 * @throws RESTORE_STATE_INVALID, TOKEN_STALE
 */
export async function takeStep(
  tx: Connection,
  row: RestoreRow,
  step: RestoreStep,
  facts: Partial<Omit<RestoreRow, 'id'>>,
  authorisedBy: Authoriser | null,
): Promise<{ status: RestoreRow['status']; isCommand: boolean }> {
  const made = stepRestore(progressOf(row), step)
  if (!made.ok)
    throw new DomainError(made.why === 'stale' ? 'TOKEN_STALE' : 'RESTORE_STATE_INVALID', {
      status: row.status,
    })
  const now = new Date(step.atMs)
  const { status, expiresAtMs } = made.next
  const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs)
  await updateRestore(tx, row.id, { ...facts, status, expiresAt, updatedAt: now })
  // What was asked before this step is answered by it, or no longer wanted.
  if (step.type !== 'taken-up') await dropCommands(tx, { restore: row.id }, now)
  if (made.effect === null) return { status, isCommand: false }
  const id = makeId('c', step.atMs, randomBytes(10))
  const message = messageOf(made.effect, id, row, authorisedBy)
  await queueCommand(tx, {
    id,
    machineId: row.machineId,
    restoreId: row.id,
    message,
    createdAt: now,
    expiresAt: expiresAt ?? new Date(step.atMs + QUEUED_MS),
  })
  return { status, isCommand: true }
}

function messageOf(
  effect: { type: 'commit'; token: string } | { type: 'cancel' },
  id: `c_${string}`,
  row: RestoreRow,
  authorisedBy: Authoriser | null,
): ServerMessage {
  if (effect.type === 'cancel') return { type: 'restore.cancel', id, restore: row.id }
  if (authorisedBy === null) throw new Error('a commit by nobody')
  return { type: 'restore.commit', id, restore: row.id, token: effect.token, authorisedBy }
}
