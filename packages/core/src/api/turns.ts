import { z } from 'zod'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { limits } from '#limits.ts'
import {
  endReasonSchema,
  entrySchema,
  skippedPathSchema,
  turnKindSchema,
  turnManifestSchema,
} from '#manifest/manifest.ts'
import { pageOf, pageQuerySchema, projectParams, timeSchema, turnParams } from './common.ts'
import { defineRoute } from './route.ts'

/** One turn in a list: counts, never contents. */
export const turnSummarySchema = z.object({
  turn: turnIdSchema,
  number: z.int(),
  kind: turnKindSchema,
  project: projectIdSchema,
  workspace: workspaceIdSchema,
  workspaceName: z.string(),
  machine: machineIdSchema,
  machineName: z.string(),
  machineOnline: z.boolean(),
  ownerName: z.string(),
  session: z.string().nullable(),
  agent: z.string().nullable(),
  prompt: z.string().nullable(),
  label: z.string().nullable(),
  startedAt: timeSchema,
  endedAt: timeSchema,
  endReason: endReasonSchema.nullable(),
  created: z.int(),
  changed: z.int(),
  deleted: z.int(),
  skipped: z.int(),
  sealed: z.int(),
  undone: z.enum(['no', 'partly', 'yes']),
  restore: restoreIdSchema.nullable(),
})
export type TurnSummary = z.infer<typeof turnSummarySchema>

/** Newest first, by when the server was told; `q` searches prompts and paths. */
export const listTurns = defineRoute({
  method: 'GET',
  path: '/v1/projects/{project}/turns',
  summary: 'The turns of a project',
  access: { kind: 'member', role: 'viewer' },
  params: projectParams,
  query: pageQuerySchema.extend({
    session: z.string().max(limits.sessionCharacters).optional(),
    agent: z.string().max(100).optional(),
    machine: machineIdSchema.optional(),
    workspace: workspaceIdSchema.optional(),
    path: z.string().max(limits.pathBytes).optional(),
    kind: turnKindSchema.optional(),
    endReason: endReasonSchema.optional(),
    q: z.string().max(200).optional(),
    since: timeSchema.optional(),
    until: timeSchema.optional(),
  }),
  response: pageOf(turnSummarySchema),
  errors: ['UNAUTHENTICATED', 'PROJECT_NOT_FOUND', 'VALIDATION_FAILED'],
})

export const getTurn = defineRoute({
  method: 'GET',
  path: '/v1/turns/{turn}',
  summary: 'One turn without its entries',
  access: { kind: 'person' },
  hasEtag: true,
  params: turnParams,
  response: z.object({
    summary: turnSummarySchema,
    /** The signed manifest but for `entries` and `skipped`, which are lists of their own. */
    manifest: turnManifestSchema.omit({ entries: true, skipped: true }),
    envelopeSha256: z.string(),
    receivedAt: timeSchema,
    skipped: z.array(skippedPathSchema).max(limits.entriesPerPage),
    skippedCount: z.int(),
    previousTurn: turnIdSchema.nullable(),
    nextTurn: turnIdSchema.nullable(),
  }),
  errors: ['UNAUTHENTICATED', 'TURN_NOT_FOUND'],
})

export const listEntries = defineRoute({
  method: 'GET',
  path: '/v1/turns/{turn}/entries',
  summary: 'What a turn did to each path, by path',
  access: { kind: 'person' },
  hasEtag: true,
  params: turnParams,
  query: z.object({
    cursor: z.string().max(500).optional(),
    limit: z.coerce.number().int().min(1).max(limits.entriesPerPage).default(limits.entriesPerPage),
  }),
  response: pageOf(entrySchema.omit({ steps: true })),
  errors: ['UNAUTHENTICATED', 'TURN_NOT_FOUND'],
})

/** A run of lines: `' '` kept, `'-'` only before, `'+'` only after. */
const hunkSchema = z.object({ id: z.string(), header: z.string() })

export const fileDiffSchema = z.object({
  path: z.string(),
  status: z.enum(['added', 'deleted', 'modified', 'mode', 'type']),
  additions: z.int(),
  deletions: z.int(),
  binary: z.boolean(),
  /** The file's part of a unified diff that `git apply` takes; null when there is none to show. */
  patch: z.string().nullable(),
  /** Why there is no patch: the bytes are sealed, not captured, not sent, or the file is too big to compare. */
  withheld: z.enum(['sealed', 'skipped', 'missing', 'too-large', 'not-a-file']).nullable(),
  hunks: z.array(hunkSchema),
})
export type FileDiff = z.infer<typeof fileDiffSchema>

export const getDiff = defineRoute({
  method: 'GET',
  path: '/v1/turns/{turn}/diff',
  summary: 'The change of one path, or of the first paths, as unified diffs',
  access: { kind: 'person' },
  hasEtag: true,
  params: turnParams,
  query: z.object({
    path: z.string().max(limits.pathBytes).optional(),
    cursor: z.string().max(500).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    format: z.enum(['json', 'patch']).default('json'),
  }),
  response: pageOf(fileDiffSchema),
  errors: ['UNAUTHENTICATED', 'TURN_NOT_FOUND', 'PATH_NOT_FOUND'],
})

export const getFile = defineRoute({
  method: 'GET',
  path: '/v1/turns/{turn}/files/{path}',
  summary: 'The bytes of a path before or after a turn',
  access: { kind: 'person' },
  hasEtag: true,
  params: turnParams.extend({ path: z.string().max(limits.pathBytes) }),
  query: z.object({ side: z.enum(['before', 'after']) }),
  response: 'bytes',
  errors: ['UNAUTHENTICATED', 'TURN_NOT_FOUND', 'PATH_NOT_FOUND', 'BLOB_NOT_FOUND', 'DIFF_UNAVAILABLE'],
})
