import { DomainError, type Stub, type TurnId, type TurnManifest, undoneMarks } from '@turnback/core'
import type { Connection } from '#db/client.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { MachineActor } from '#http/actor.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { getOwnWorkspace } from '#modules/machines/index.ts'
import { listMissing } from './blob-queries.ts'
import { openEnvelope, parseManifest, parseStub, withUnpacked } from './envelope-service.ts'
import { checkAgainstHead } from './head-service.ts'
import {
  findEnvelope,
  findWorkspaceByHead,
  insertEnvelope,
  insertTurn,
  listRestoreFacts,
  lockWorkspace,
  moveHead,
  replaceStub,
  setMarks,
} from './turn-queries.ts'
import { blobsOf, cleanText, projectManifest, type TurnProjection } from './turn-rows.ts'

/** Ids that one answer names; the client asks again with the rest sent. */
const MISSING_NAMED = 1_000

interface Received {
  readonly turn: TurnId
  readonly seq: number
  readonly prev: string | null
  /** What the next envelope's `prev` must be. */
  readonly chainSha256: string
  readonly ownSha256: string
  readonly compressed: Uint8Array
}

type Workspace = Awaited<ReturnType<typeof getOwnWorkspace>>

export interface Accepted {
  readonly turn: TurnId
  readonly seq: number
  readonly sha256: string
  readonly isNew: boolean
}

/** Takes a turn, or the stub that stands for one: checked, stored as it came, projected, then told. */
export async function acceptTurn(
  deps: Deps,
  machine: MachineActor,
  turn: TurnId,
  compressed: Uint8Array,
  requestId: string,
): Promise<Accepted> {
  try {
    return await withUnpacked(compressed, async (envelope) => {
      const { type, text, sha256 } = openEnvelope(machine, envelope, ['turn', 'stub'])
      return type === 'stub'
        ? await acceptStub(deps, machine, turn, parseStub(text), { compressed, ownSha256: sha256 })
        : await acceptManifest(deps, machine, turn, parseManifest(text), { compressed, ownSha256: sha256 })
    })
  } catch (error) {
    if (error instanceof DomainError && error.code !== 'BLOB_MISSING')
      await recordEvent(deps.db, {
        actor: { kind: 'machine', id: machine.id },
        action: 'push.refused',
        objects: { turn },
        facts: { code: error.code, ...('announced' in error.details ? { isAnnouncedOtherwise: true } : {}) },
        requestId,
      })
    throw error
  }
}

async function acceptManifest(
  deps: Deps,
  machine: MachineActor,
  turn: TurnId,
  manifest: TurnManifest,
  given: { compressed: Uint8Array; ownSha256: string },
): Promise<Accepted> {
  if (manifest.turn !== turn || manifest.machine !== machine.id)
    throw new DomainError('MANIFEST_INVALID', { why: manifest.turn === turn ? 'machine' : 'turn' })
  if (new Set(manifest.entries.map((entry) => entry.path)).size !== manifest.entries.length)
    throw new DomainError('MANIFEST_INVALID', { why: 'a path twice' })
  const workspace = await getOwnWorkspace(deps, machine, manifest.workspace)
  if (manifest.project !== null && manifest.project !== workspace.projectId)
    throw new DomainError('MANIFEST_INVALID', { why: 'project' })
  const { seq, prev } = manifest
  const received: Received = { turn, seq, prev, chainSha256: given.ownSha256, ...given }
  const projection = projectManifest(manifest)
  const accepted = await inTx(deps.db, async (tx) => {
    const place = await findPlace(tx, workspace, received)
    if (place === 'known') return toAccepted(received, false)
    const scope = { project: workspace.projectId, workspace: workspace.id }
    const missing = await listMissing(tx, scope, blobsOf(manifest))
    if (missing.length > 0)
      throw new DomainError('BLOB_MISSING', { blobs: missing.slice(0, MISSING_NAMED), count: missing.length })
    const receivedAt = new Date(deps.clock.nowMs())
    const row = { ...envelopeRow(workspace, machine, received, receivedAt), type: 'turn' as const }
    if (place === 'stub') await replaceStub(tx, row)
    else {
      await insertEnvelope(tx, row)
      await moveHead(tx, workspace.id, { seq, sha256: received.chainSha256 })
    }
    await insertTurn(tx, turnRow(workspace, machine, manifest, projection, receivedAt), projection.entries)
    if (projection.restoreFacts !== null || place === 'stub') await renewMarks(tx, workspace)
    return toAccepted(received, true)
  })
  if (accepted.isNew) await deps.bus.publish({ type: 'turn', project: workspace.projectId, turn })
  return accepted
}

async function acceptStub(
  deps: Deps,
  machine: MachineActor,
  turn: TurnId,
  stub: Stub,
  given: { compressed: Uint8Array; ownSha256: string },
): Promise<Accepted> {
  if (stub.turn !== turn) throw new DomainError('MANIFEST_INVALID', { why: 'turn' })
  const { seq, prev } = stub
  const received: Received = { turn, seq, prev, chainSha256: stub.sha256, ...given }
  return await inTx(deps.db, async (tx) => {
    const workspace = await findStubsWorkspace(deps, tx, machine, stub)
    if ((await findPlace(tx, workspace, received)) === 'known') return toAccepted(received, false)
    const row = envelopeRow(workspace, machine, received, new Date(deps.clock.nowMs()))
    await insertEnvelope(tx, { ...row, type: 'stub' })
    await moveHead(tx, workspace.id, { seq, sha256: stub.sha256 })
    return toAccepted(received, true)
  })
}

/** A stub names its workspace, or continues a chain that does. */
async function findStubsWorkspace(
  deps: Deps,
  tx: Connection,
  machine: MachineActor,
  stub: Stub,
): Promise<Workspace> {
  if (stub.workspace !== undefined) return await getOwnWorkspace(deps, machine, stub.workspace)
  const known = await findEnvelope(tx, stub.turn)
  if (known !== null && known.machineId === machine.id)
    return await getOwnWorkspace(deps, machine, known.workspaceId)
  const found = stub.prev === null ? null : await findWorkspaceByHead(tx, machine.id, stub.prev)
  if (found === null) throw new DomainError('CHAIN_BROKEN', { seq: stub.seq })
  return found
}

/**
 * Where the envelope belongs: it is `known` already, it is `next` in the chain, or it is what a `stub` stands for.
 * @throws TURN_CONFLICT for other bytes under a known id, CHAIN_BROKEN for a gap, a fork, a reused number,
 * or another turn than the machine had announced for this place
 */
async function findPlace(
  tx: Connection,
  workspace: Workspace,
  given: Received,
): Promise<'known' | 'next' | 'stub'> {
  const head = await lockWorkspace(tx, workspace.id)
  const known = await findEnvelope(tx, given.turn)
  if (known !== null) {
    if (known.workspaceId !== workspace.id) throw new DomainError('TURN_CONFLICT')
    if (known.ownSha256 === given.ownSha256) return 'known'
    const isWhole = given.chainSha256 === given.ownSha256
    if (known.type === 'stub' && isWhole && known.sha256 === given.ownSha256) return 'stub'
    throw new DomainError('TURN_CONFLICT')
  }
  if (given.seq !== head.headSeq + 1 || given.prev !== head.headSha256)
    throw new DomainError('CHAIN_BROKEN', {
      seq: given.seq,
      head: { seq: head.headSeq, sha256: head.headSha256 },
    })
  await checkAgainstHead(tx, workspace.id, { seq: given.seq, sha256: given.chainSha256 })
  return 'next'
}

/** All marks of the workspace made anew: restores are few, and one may take another back. */
async function renewMarks(tx: Connection, workspace: Workspace): Promise<void> {
  const restores = await listRestoreFacts(tx, workspace.id)
  const marks = undoneMarks(restores)
  const all = new Map(
    restores.flatMap((restore) => restore.of).map((turn) => [turn, marks.get(turn) ?? 'no']),
  )
  await setMarks(tx, workspace.id, all)
}

function envelopeRow(workspace: Workspace, machine: MachineActor, received: Received, receivedAt: Date) {
  const { turn, seq, chainSha256, ownSha256, compressed } = received
  const ids = { turn, workspaceId: workspace.id, machineId: machine.id }
  return { ...ids, seq, sha256: chainSha256, ownSha256, bytes: compressed, receivedAt }
}

function turnRow(
  workspace: Workspace,
  machine: MachineActor,
  manifest: TurnManifest,
  projection: TurnProjection,
  receivedAt: Date,
) {
  const text = (value: string | null) => (value === null ? null : cleanText(value))
  return {
    id: manifest.turn,
    projectId: workspace.projectId,
    workspaceId: workspace.id,
    machineId: machine.id,
    seq: manifest.seq,
    number: manifest.number,
    kind: manifest.kind,
    session: text(manifest.session),
    agent: text(manifest.agent?.name ?? null),
    prompt: text(manifest.prompt),
    label: text(manifest.label),
    startedAt: new Date(manifest.startedAt),
    endedAt: new Date(manifest.endedAt),
    endReason: manifest.endReason,
    ...projection.counts,
    restoreId: manifest.restore?.id ?? null,
    restoreFacts: projection.restoreFacts,
    head: projection.head,
    skippedPaths: projection.skippedPaths,
    receivedAt,
  }
}

function toAccepted(received: Received, isNew: boolean): Accepted {
  return { turn: received.turn, seq: received.seq, sha256: received.ownSha256, isNew }
}
