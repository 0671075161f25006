import { randomBytes } from 'node:crypto'
import {
  type Authoriser,
  DomainError,
  isSettled,
  makeId,
  type ProjectId,
  type RestoreId,
  type RestoreRequest,
} from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { waitFor } from '#bus/wait-for.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import { isAtLeast, type PersonActor } from '#http/actor.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { queueCommand } from '#modules/commands/index.ts'
import {
  countRequestedSince,
  findRestoreFor,
  findTargetFor,
  hasTurn,
  insertRestore,
  listOverdue,
  listRestoresOf,
  lockRestore,
  type VisibleRestore,
} from './queries.ts'
import { QUEUED_MS, takeStep } from './steps.ts'

const REQUESTS_PER_HOUR = 30
const HOUR_MS = 3_600_000

/** Asks a machine for a plan. It comes by the link when there is one, else when the machine is there again. */
export async function requestRestore(
  deps: Deps,
  person: PersonActor,
  request: RestoreRequest,
  requestId: string,
  options: { readonly isUndo: boolean } = { isUndo: false },
): Promise<Restore> {
  const target = await findTargetFor(deps.db, person.id, request.workspace)
  if (target === null) throw new DomainError('WORKSPACE_NOT_FOUND')
  // The turn of a restore that just ended may still be on its way here; the machine knows it.
  if (!options.isUndo && !(await hasTurn(deps.db, request.workspace, request.turn)))
    throw new DomainError('TURN_NOT_FOUND')
  if (!isAtLeast(target.role, 'member') || target.ownerId !== person.id) throw new DomainError('FORBIDDEN')
  if (target.revokedAt !== null) throw new DomainError('MACHINE_REVOKED')
  const nowMs = deps.clock.nowMs()
  const now = new Date(nowMs)
  if ((await countRequestedSince(deps.db, target.machine, new Date(nowMs - HOUR_MS))) >= REQUESTS_PER_HOUR)
    throw new DomainError('RATE_LIMITED')
  const id = makeId('r', nowMs, randomBytes(10))
  const authoriser = authoriserOf(person)
  await inTx(deps.db, async (tx) => {
    await insertRestore(tx, {
      id,
      projectId: target.project,
      workspaceId: request.workspace,
      machineId: target.machine,
      turnId: request.turn,
      status: 'queued',
      request,
      authoriser,
      requestedById: person.id,
      requestedBy: { kind: 'user', name: person.name },
      createdAt: now,
      updatedAt: now,
      expiresAt: new Date(nowMs + QUEUED_MS),
    })
    const command = makeId('c', nowMs, randomBytes(10))
    const requestedAt = now.toISOString()
    await queueCommand(tx, {
      id: command,
      machineId: target.machine,
      restoreId: id,
      message: {
        type: 'plan.request',
        id: command,
        restore: id,
        request,
        requestedBy: authoriser,
        requestedAt,
      },
      createdAt: now,
      expiresAt: new Date(nowMs + QUEUED_MS),
    })
    await recordEvent(tx, {
      actor: { kind: 'person', id: person.id },
      action: 'restore.requested',
      project: target.project,
      objects: { restore: id, turn: request.turn, workspace: request.workspace, machine: target.machine },
      facts: { mode: request.mode, scope: request.scope },
      requestId,
    })
  })
  await deps.bus.publish({ type: 'command', machine: target.machine })
  await deps.bus.publish({ type: 'restore', project: target.project, restore: id })
  return (await getVisible(deps, person.id, id)).wire
}

async function getRestoreNow(deps: Deps, personId: string, id: RestoreId): Promise<Restore> {
  return (await getVisible(deps, personId, id)).wire
}

/** Waits for a change of the state that the caller finds first, or for the time to be over. */
export async function awaitRestore(
  deps: Deps,
  personId: string,
  id: RestoreId,
  wait: { seconds: number; signal: AbortSignal },
): Promise<Restore> {
  const first = await getRestoreNow(deps, personId, id)
  if (wait.seconds === 0 || isSettled(first.status)) return first
  return await waitFor(deps.bus, {
    timeoutMs: wait.seconds * 1000,
    signal: wait.signal,
    concerns: (message) => message.type === 'restore' && message.restore === id,
    read: () => getRestoreNow(deps, personId, id),
    isEnough: (now) => now.updatedAt !== first.updatedAt || now.status !== first.status,
  })
}

export function listRestorePage(
  deps: Deps,
  project: ProjectId,
  page: { before: { createdAt: Date; id: RestoreId } | null; limit: number },
): Promise<Restore[]> {
  return listRestoresOf(deps.db, project, { ...page, now: new Date(deps.clock.nowMs()) })
}

export async function confirmRestore(
  deps: Deps,
  person: PersonActor,
  id: RestoreId,
  token: string,
  requestId: string,
): Promise<Restore> {
  await requireOwner(deps, person, id)
  return await decide(deps, person, id, { type: 'confirmed', token }, requestId)
}

export async function cancelRestore(
  deps: Deps,
  person: PersonActor,
  id: RestoreId,
  requestId: string,
): Promise<Restore> {
  await requireOwner(deps, person, id)
  return await decide(deps, person, id, { type: 'cancelled' }, requestId)
}

async function decide(
  deps: Deps,
  person: PersonActor,
  id: RestoreId,
  word: { type: 'confirmed'; token: string } | { type: 'cancelled' },
  requestId: string,
): Promise<Restore> {
  const atMs = deps.clock.nowMs()
  const row = await inTx(deps.db, async (tx) => {
    const found = await lockRestore(tx, id)
    if (found === null) throw new DomainError('RESTORE_NOT_FOUND')
    await takeStep(tx, found, { ...word, atMs }, {}, authoriserOf(person))
    await recordEvent(tx, {
      actor: { kind: 'person', id: person.id },
      action: word.type === 'confirmed' ? 'restore.confirmed' : 'restore.cancelled',
      project: found.projectId,
      objects: { restore: id, machine: found.machineId },
      requestId,
    })
    return found
  })
  await deps.bus.publish({ type: 'command', machine: row.machineId })
  await deps.bus.publish({ type: 'restore', project: row.projectId, restore: id })
  return await getRestoreNow(deps, person.id, id)
}

/** A new restore of the turn that the finished one is. */
export async function undoRestore(
  deps: Deps,
  person: PersonActor,
  id: RestoreId,
  requestId: string,
): Promise<Restore> {
  const { wire } = await requireOwner(deps, person, id)
  const turn = wire.report?.turn ?? null
  if (turn === null) throw new DomainError('RESTORE_STATE_INVALID', { status: wire.status })
  const request: RestoreRequest = {
    workspace: wire.workspace,
    turn,
    scope: 'from-turn',
    exact: false,
    onConflict: 'keep',
    mode: 'run',
    allowHeadChange: false,
  }
  return await requestRestore(deps, person, request, requestId, { isUndo: true })
}

/** Ends what nobody answered in time. Called now and then, and before a restore is shown. */
export async function expireRestores(deps: Deps): Promise<void> {
  for (const id of await listOverdue(deps.db, new Date(deps.clock.nowMs()))) await expire(deps, id)
}

async function expire(deps: Deps, id: RestoreId): Promise<void> {
  const atMs = deps.clock.nowMs()
  const project = await inTx(deps.db, async (tx) => {
    const row = await lockRestore(tx, id)
    if (row === null || row.expiresAt === null || row.expiresAt.getTime() > atMs) return null
    await takeStep(tx, row, { type: 'time-passed', atMs }, {}, null)
    const objects = { restore: id, machine: row.machineId }
    const actor = { kind: 'operator', id: null } as const
    await recordEvent(tx, {
      actor,
      action: 'restore.expired',
      project: row.projectId,
      objects,
      facts: { from: row.status },
    })
    return row.projectId
  })
  if (project !== null) await deps.bus.publish({ type: 'restore', project, restore: id })
}

async function getVisible(deps: Deps, personId: string, id: RestoreId): Promise<VisibleRestore> {
  const found = await findRestoreFor(deps.db, personId, id, new Date(deps.clock.nowMs()))
  if (found === null) throw new DomainError('RESTORE_NOT_FOUND')
  return found
}

async function requireOwner(deps: Deps, person: PersonActor, id: RestoreId): Promise<VisibleRestore> {
  const visible = await getVisible(deps, person.id, id)
  if (visible.ownerId !== person.id || !isAtLeast(visible.role, 'member')) throw new DomainError('FORBIDDEN')
  return visible
}

/** Only an owner gets as far as this. */
function authoriserOf(person: PersonActor): Authoriser {
  return { kind: 'user', name: person.name, isOwner: true, signedInAt: person.signedInAt.toISOString() }
}
