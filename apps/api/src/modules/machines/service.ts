import { createHash } from 'node:crypto'
import {
  DomainError,
  limits,
  type MachineId,
  type ProjectId,
  type RemotePolicy,
  type WorkspaceId,
} from '@turnback/core'
import type { Machine } from '@turnback/core/api'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { Credentials, MachineActor, PersonActor } from '#http/actor.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { dropCommands } from '#modules/commands/index.ts'
import { findOrMakeProject } from '#modules/projects/index.ts'
import {
  deleteNoncesBefore,
  findMachine,
  findWorkspace,
  insertNonce,
  listProjectsOfMachine,
  listVisibleMachines,
  listVisibleWorkspaces,
  markAlive,
  markLinked,
  markUnlinked,
  revokeMachine,
  upsertWorkspace,
  type VisibleMachine,
  type WorkspaceRow,
} from './queries.ts'
import { isSignedBy, parseRequestSignature, requestText } from './signature.ts'

const SKEW_MS = limits.signatureSkewSeconds * 1000
/** A link that gives no sign of life for this long is no longer online: two pings and some. */
const ALIVE_MS = 50_000
const FINGERPRINT_CHARACTERS = 16

export async function authenticateMachine(
  deps: Deps,
  credentials: Credentials,
): Promise<{ actor: MachineActor; bodySha256: string }> {
  const given = parseRequestSignature(credentials.headers.get('authorization'))
  if (given === null) throw new DomainError('UNAUTHENTICATED')
  const machine = await findMachine(deps.db, given.machine)
  // Unknown looks like not signed at all: whether an id exists is nobody's business.
  if (machine === null) throw new DomainError('UNAUTHENTICATED')
  if (!isSignedBy(machine.publicKey, Buffer.from(requestText(credentials, given)), given.signature))
    throw new DomainError('SIGNATURE_INVALID')
  if (machine.revokedAt !== null) throw new DomainError('MACHINE_REVOKED')
  const nowMs = deps.clock.nowMs()
  if (Math.abs(nowMs - given.atMs) > SKEW_MS)
    throw new DomainError('SIGNATURE_INVALID', { serverTime: new Date(nowMs).toISOString() })
  if (!(await insertNonce(deps.db, machine.id, given.nonce, new Date(nowMs))))
    throw new DomainError('SIGNATURE_INVALID')
  const { id, name, ownerId, defaultProjectId, publicKey } = machine
  return {
    actor: { kind: 'machine', id, name, ownerId, defaultProject: defaultProjectId, publicKey },
    bodySha256: given.bodySha256,
  }
}

/** Nonces whose time stamps nobody would take any more. Called now and then. */
export async function forgetOldNonces(deps: Deps): Promise<void> {
  await deleteNoncesBefore(deps.db, new Date(deps.clock.nowMs() - 3 * SKEW_MS))
}

export async function listMachinesFor(
  deps: Deps,
  personId: string,
  page: { after: MachineId | null; limit: number },
): Promise<Machine[]> {
  const found = await listVisibleMachines(deps.db, personId, { ...page, now: new Date(deps.clock.nowMs()) })
  const places = await listVisibleWorkspaces(
    deps.db,
    personId,
    found.map(({ machine }) => machine.id),
  )
  return found.map((visible) => ({
    ...toMachine(visible, personId),
    workspaces: places
      .filter((place) => place.machine === visible.machine.id)
      .map(({ id, project, name, root }) => ({ id, project, name, root })),
  }))
}

function toMachine(
  { machine, ownerName, isOnline }: VisibleMachine,
  personId: string,
): Omit<Machine, 'workspaces'> {
  return {
    id: machine.id,
    name: machine.name,
    owner: { id: machine.ownerId, name: ownerName },
    isMine: machine.ownerId === personId,
    online: isOnline,
    lastSeenAt: machine.lastSeenAt?.toISOString() ?? null,
    version: machine.version,
    policy: machine.remotePolicy === null ? null : { remote: machine.remotePolicy },
    fingerprint: createHash('sha256')
      .update(machine.publicKey)
      .digest('hex')
      .slice(0, FINGERPRINT_CHARACTERS),
    enrolledAt: machine.enrolledAt.toISOString(),
  }
}

/** Closes its link within seconds, drops what it was asked, and takes no word of it any more. */
export async function removeMachine(
  deps: Deps,
  person: PersonActor,
  id: MachineId,
  requestId: string,
): Promise<void> {
  const [visible] = (await listMachinesFor(deps, person.id, { after: null, limit: 10_000 })).filter(
    (one) => one.id === id,
  )
  if (visible === undefined) throw new DomainError('MACHINE_NOT_FOUND')
  if (!visible.isMine && !person.isAdmin) throw new DomainError('FORBIDDEN')
  const now = new Date(deps.clock.nowMs())
  await inTx(deps.db, async (tx) => {
    await revokeMachine(tx, id, now)
    await dropCommands(tx, { machine: id }, now)
    await recordEvent(tx, {
      actor: { kind: 'person', id: person.id },
      action: 'machine.revoked',
      objects: { machine: id },
      requestId,
    })
  })
  await deps.bus.publish({ type: 'revoked', machine: id })
  await deps.bus.publish({ type: 'machine', machine: id })
}

export async function registerWorkspace(
  deps: Deps,
  machine: MachineActor,
  given: { id: WorkspaceId; root: string; name: string; project: string | null },
  requestId: string,
): Promise<{ workspace: WorkspaceId; project: { id: ProjectId; name: string } }> {
  const nowMs = deps.clock.nowMs()
  return await inTx(deps.db, async (tx) => {
    const known = await findWorkspace(tx, given.id)
    if (known !== null && known.machineId !== machine.id) throw new DomainError('WORKSPACE_NOT_FOUND')
    const projectId =
      given.project === null
        ? machine.defaultProject
        : (await findOrMakeProject(tx, nowMs, machine.ownerId, given.project, requestId)).id
    const { id, root, name } = given
    const project = await upsertWorkspace(tx, {
      id,
      machineId: machine.id,
      projectId,
      root,
      name,
      createdAt: new Date(nowMs),
    })
    return { workspace: id, project }
  })
}

/** @throws WORKSPACE_NOT_FOUND also for another machine's */
export async function getOwnWorkspace(
  deps: Deps,
  machine: MachineActor,
  id: WorkspaceId,
): Promise<WorkspaceRow> {
  const workspace = await findWorkspace(deps.db, id)
  if (workspace === null || workspace.machineId !== machine.id) throw new DomainError('WORKSPACE_NOT_FOUND')
  return workspace
}

export async function recordHello(
  deps: Deps,
  id: MachineId,
  hello: { linkId: string; version: string; policy: RemotePolicy },
): Promise<void> {
  const nowMs = deps.clock.nowMs()
  await markLinked(deps.db, id, { ...hello, now: new Date(nowMs), until: new Date(nowMs + ALIVE_MS) })
  await deps.bus.publish({ type: 'machine', machine: id })
}

/** False when this link is no longer the machine's. */
export async function recordSignOfLife(deps: Deps, id: MachineId, linkId: string): Promise<boolean> {
  const nowMs = deps.clock.nowMs()
  return await markAlive(deps.db, id, { linkId, now: new Date(nowMs), until: new Date(nowMs + ALIVE_MS) })
}

export async function recordGoodbye(deps: Deps, id: MachineId, linkId: string): Promise<void> {
  await markUnlinked(deps.db, id, linkId, new Date(deps.clock.nowMs()))
  await deps.bus.publish({ type: 'machine', machine: id })
}

export function listMachinesProjects(deps: Deps, id: MachineId): Promise<ProjectId[]> {
  return listProjectsOfMachine(deps.db, id)
}
