import { zstdCompressSync } from 'node:zlib'
import { type BlobId, DomainError, limits, type Stub, type WorkspaceId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { PURGED } from '#gap-ports.ts'
import type { BlobStore, Log, MachineIdentity, OutboxItem } from '#ports.ts'
import { listBlobIds } from './blob-ids.ts'
import type { Caller, CallOptions } from './caller.ts'
import { buildPacks } from './pack-builder.ts'

export interface PushParts {
  readonly log: Log
  readonly blobs: BlobStore
  readonly identity: MachineIdentity
  readonly caller: Caller
  readonly signal?: AbortSignal | undefined
}

/** Sends one turn: the bytes that it names and the service has not, then the envelope as it was signed. */
export async function sendTurn(parts: PushParts, item: OutboxItem): Promise<void> {
  const named = listBlobIds(parts.log.getManifest(item.turn))
  await sendBlobs(parts, item.workspace, named)
  try {
    await putEnvelope(parts, item, parts.log.getEnvelopeZstd(item.turn))
  } catch (error) {
    // Bytes may have left the service between the question and the turn; once more, then it is an error.
    if (!(error instanceof DomainError) || error.code !== 'BLOB_MISSING') throw error
    await sendBlobs(parts, item.workspace, named)
    await putEnvelope(parts, item, parts.log.getEnvelopeZstd(item.turn))
  }
}

/** Sends what stands for a turn that was set aside or removed, so that the chain goes on from it. */
export async function sendStub(parts: PushParts, item: OutboxItem): Promise<void> {
  const stub: Stub = {
    turn: item.turn,
    workspace: item.workspace,
    seq: item.seq,
    prev: item.prev,
    sha256: item.sha256,
    reason: item.parked === PURGED ? 'purged' : 'parked',
  }
  const envelope = parts.identity.signEnvelope('stub', Buffer.from(JSON.stringify(stub)))
  await putEnvelope(parts, item, zstdCompressSync(envelope))
}

async function putEnvelope(parts: PushParts, item: OutboxItem, zstd: Uint8Array): Promise<void> {
  if (zstd.length > limits.envelopeCompressedBytes) {
    throw new DomainError('PAYLOAD_TOO_LARGE', { bytes: zstd.length, limit: limits.envelopeCompressedBytes })
  }
  try {
    const input = { params: { turn: item.turn }, bytes: [zstd] }
    const answer = await parts.caller.call(routes.putTurn, input, callOptions(parts.signal))
    if (answer.turn === item.turn && answer.seq === item.seq) return
  } catch (error) {
    throw await nameSignatureFault(parts, item, error)
  }
  const message = 'The service answered for another turn than was sent.'
  throw new DomainError('INTERNAL', { turn: item.turn }, { message })
}

/** Requests and envelopes are signed, and both can be refused for it: one more request tells which of them was. */
async function nameSignatureFault(parts: PushParts, item: OutboxItem, error: unknown): Promise<unknown> {
  if (!(error instanceof DomainError) || error.code !== 'SIGNATURE_INVALID') return error
  const input = { params: { workspace: item.workspace }, body: { ids: [] } }
  await parts.caller.call(routes.findMissingBlobs, input, callOptions(parts.signal))
  const message = 'The service does not take the signature under this turn.'
  return new DomainError('MANIFEST_INVALID', { turn: item.turn }, { message, cause: error })
}

async function sendBlobs(parts: PushParts, workspace: WorkspaceId, ids: readonly BlobId[]): Promise<void> {
  for (let at = 0; at < ids.length; at += limits.blobIdsPerQuestion) {
    const asked = ids.slice(at, at + limits.blobIdsPerQuestion)
    const input = { params: { workspace }, body: { ids: asked } }
    const { missing } = await parts.caller.call(routes.findMissingBlobs, input, callOptions(parts.signal))
    // Only what was asked about: the answer is no way to ask us for other bytes.
    const wanted = new Set(missing)
    await sendPacks(
      parts,
      workspace,
      asked.filter((id) => wanted.has(id)),
      limits.packBytes,
    )
  }
}

/**
 * A pack that is refused for its size is never sent again as it was: its blobs go in smaller ones (a proxy may
 * take less than the service), down to one frame each; one that is refused alone is the turn's trouble.
 */
async function sendPacks(
  parts: PushParts,
  workspace: WorkspaceId,
  ids: readonly BlobId[],
  packBytes: number,
): Promise<void> {
  const source = { blobs: parts.blobs, recipients: [parts.identity.ageRecipient], packBytes }
  for await (const pack of buildPacks(ids, source)) {
    try {
      const input = { params: { workspace, packId: pack.id }, bytes: pack.pieces }
      await parts.caller.call(routes.putPack, input, callOptions(parts.signal))
    } catch (error) {
      const isTooLarge = error instanceof DomainError && error.code === 'PAYLOAD_TOO_LARGE'
      if (!isTooLarge || pack.blobs.length === 1) throw error
      await sendPacks(parts, workspace, pack.blobs, Math.floor(Math.min(packBytes, pack.bytes) / 4))
    }
  }
}

export function callOptions(signal: AbortSignal | undefined): CallOptions {
  return signal === undefined ? {} : { signal }
}
