import { createHash } from 'node:crypto'
import { type BlobId, DomainError, isSealed, type WorkspaceId } from '@turnback/core'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { MachineActor } from '#http/actor.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { getOwnWorkspace } from '#modules/machines/index.ts'
import { type BlobRow, type BlobScope, findBlob, insertPack, listMissing } from './blob-queries.ts'
import { checkFrame, openPlainFrame } from './frame-bytes.ts'
import { PackReader } from './pack-reader.ts'

export async function findMissing(
  deps: Deps,
  machine: MachineActor,
  workspaceId: WorkspaceId,
  ids: readonly BlobId[],
): Promise<BlobId[]> {
  const workspace = await getOwnWorkspace(deps, machine, workspaceId)
  return await listMissing(deps.db, { project: workspace.projectId, workspace: workspace.id }, ids)
}

/**
 * Stores a pack: checked while it comes in, durable before any row names it. Whatever interrupts it, sending it
 * again has the same end.
 */
export async function acceptPack(
  deps: Deps,
  machine: MachineActor,
  given: { workspace: WorkspaceId; packId: string; body: AsyncIterable<Uint8Array> },
  requestId: string,
): Promise<{ blobs: number; bytes: number }> {
  const workspace = await getOwnWorkspace(deps, machine, given.workspace)
  const scope = { project: workspace.projectId, workspace: workspace.id }
  try {
    return await storePack(deps, machine, scope, given)
  } catch (error) {
    if (error instanceof DomainError)
      await recordEvent(deps.db, {
        actor: { kind: 'machine', id: machine.id },
        action: 'push.refused',
        project: scope.project,
        objects: { workspace: scope.workspace },
        facts: { code: error.code },
        requestId,
      })
    throw error
  }
}

async function storePack(
  deps: Deps,
  machine: MachineActor,
  scope: BlobScope,
  given: { packId: string; body: AsyncIterable<Uint8Array> },
): Promise<{ blobs: number; bytes: number }> {
  const rows = new Map<BlobId, BlobRow>()
  const reader = new PackReader(async (frame, stored) => {
    await checkFrame(frame, stored)
    const { id, codec, sizeBytes, storedBytes, offsetBytes } = frame
    const owner = isSealed(id) ? scope.workspace : scope.project
    rows.set(id, {
      scope: owner,
      id,
      projectId: scope.project,
      packId: given.packId,
      offsetBytes,
      storedBytes,
      sizeBytes,
      codec,
    })
  })
  const writer = await deps.objects.beginWrite()
  try {
    const hash = createHash('sha256')
    let sizeBytes = 0
    for await (const chunk of given.body) {
      hash.update(chunk)
      sizeBytes += chunk.length
      await reader.write(chunk)
      await writer.write(chunk)
    }
    reader.end()
    if (hash.digest('hex') !== given.packId)
      throw new DomainError('BLOB_HASH_MISMATCH', { pack: given.packId })
    await writer.commit(packKey(scope.project, given.packId))
    const receivedAt = new Date(deps.clock.nowMs())
    const pack = {
      projectId: scope.project,
      packId: given.packId,
      machineId: machine.id,
      sizeBytes,
      receivedAt,
    }
    await inTx(deps.db, (tx) => insertPack(tx, pack, [...rows.values()]))
    return { blobs: rows.size, bytes: sizeBytes }
  } finally {
    await writer.abort()
  }
}

/**
 * A plain blob's bytes, checked against its id once more on the way out.
 * @throws BLOB_NOT_FOUND when it was never sent
 */
export async function readPlainBlob(deps: Deps, scope: BlobScope, id: BlobId): Promise<Uint8Array> {
  const row = await findBlob(deps.db, scope, id)
  if (row === null || isSealed(id)) throw new DomainError('BLOB_NOT_FOUND')
  const stored = await deps.objects.read(packKey(row.projectId, row.packId), row.offsetBytes, row.storedBytes)
  return await openPlainFrame(
    { id, codec: row.codec, sizeBytes: row.sizeBytes, storedBytes: row.storedBytes },
    stored,
  )
}

function packKey(project: string, packId: string): string {
  return `packs/${project}/${packId.slice(0, 2)}/${packId}`
}
