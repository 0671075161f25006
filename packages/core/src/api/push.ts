import { z } from 'zod'
import { blobIdSchema } from '#blob/blob-id.ts'
import { turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { limits } from '#limits.ts'
import { turnParams, workspaceParams } from './common.ts'
import { defineRoute } from './route.ts'

export const PACK_CONTENT_TYPE = 'application/vnd.turnback.pack'
const PLAIN_ENVELOPE_CONTENT_TYPE = 'application/vnd.turnback.envelope'
export const ENVELOPE_CONTENT_TYPE = 'application/vnd.turnback.envelope+zstd'

/** Answers only for ids that this workspace's project holds; unknown ids and other projects' look the same. */
export const findMissingBlobs = defineRoute({
  method: 'POST',
  path: '/v1/workspaces/{workspace}/blobs/missing',
  summary: 'Which of these blobs must still be sent',
  access: { kind: 'machine' },
  params: workspaceParams,
  body: z.strictObject({ ids: z.array(blobIdSchema).max(limits.blobIdsPerQuestion) }),
  response: z.object({ missing: z.array(blobIdSchema) }),
  errors: ['UNAUTHENTICATED', 'WORKSPACE_NOT_FOUND', 'VALIDATION_FAILED'],
})

/** `packId` is the hex SHA-256 of the whole body. Repeatable. */
export const putPack = defineRoute({
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/packs/{packId}',
  summary: 'Send blobs, many in one body; each frame’s hash is checked',
  access: { kind: 'machine' },
  params: workspaceParams.extend({ packId: z.string().regex(/^[0-9a-f]{64}$/) }),
  bytes: { contentType: PACK_CONTENT_TYPE, maxBytes: limits.fileBytes + limits.packBytes },
  response: z.object({ blobs: z.int(), bytes: z.int() }),
  errors: [
    'UNAUTHENTICATED',
    'WORKSPACE_NOT_FOUND',
    'PACK_INVALID',
    'BLOB_HASH_MISMATCH',
    'PAYLOAD_TOO_LARGE',
    'STORAGE_UNAVAILABLE',
  ],
})

/** The body is the signed envelope, compressed with zstd; it is stored as it came. Repeatable with the same bytes. */
export const putTurn = defineRoute({
  method: 'PUT',
  path: '/v1/turns/{turn}',
  summary: 'Send a turn, or the stub that stands for one',
  access: { kind: 'machine' },
  params: turnParams,
  bytes: { contentType: ENVELOPE_CONTENT_TYPE, maxBytes: limits.envelopeCompressedBytes },
  response: z.object({ turn: turnIdSchema, seq: z.int(), sha256: z.string(), isNew: z.boolean() }),
  errors: [
    'UNAUTHENTICATED',
    'SIGNATURE_INVALID',
    'MANIFEST_INVALID',
    'WORKSPACE_NOT_FOUND',
    'BLOB_MISSING',
    'TURN_CONFLICT',
    'CHAIN_BROKEN',
    'PAYLOAD_TOO_LARGE',
    'STORAGE_UNAVAILABLE',
  ],
})

/**
 * Body: a signed envelope of type `head`. Once taken, a turn in that place of the chain must have that hash; a
 * head that says otherwise than what is known already is refused. Repeatable, and late ones are taken.
 */
export const putHead = defineRoute({
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/head',
  summary: 'Say where a workspace’s chain ends as a turn begins',
  access: { kind: 'machine' },
  params: workspaceParams,
  bytes: { contentType: PLAIN_ENVELOPE_CONTENT_TYPE, maxBytes: limits.headEnvelopeBytes },
  response: z.object({ workspace: workspaceIdSchema, seq: z.int(), sha256: z.string().nullable() }),
  errors: [
    'UNAUTHENTICATED',
    'SIGNATURE_INVALID',
    'VALIDATION_FAILED',
    'WORKSPACE_NOT_FOUND',
    'CHAIN_BROKEN',
    'PAYLOAD_TOO_LARGE',
  ],
})
