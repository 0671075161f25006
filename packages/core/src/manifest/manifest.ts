import { z } from 'zod'
import { machineIdSchema, projectIdSchema, restoreIdSchema, turnIdSchema, workspaceIdSchema } from '#ids.ts'
import { limits } from '#limits.ts'
import { relPathSchema, seenPathSchema } from '#path/rel-path.ts'
import { skipReasonSchema, stateSchema } from '#tree/state.ts'

export const MANIFEST_FORMAT = 'turnback.turn/1'

export const turnKindSchema = z.enum(['agent', 'task', 'checkpoint', 'restore', 'outside'])
export type TurnKind = z.infer<typeof turnKindSchema>

export const endReasonSchema = z.enum(['completed', 'failed', 'interrupted', 'superseded', 'lost'])
export type EndReason = z.infer<typeof endReasonSchema>

/** Who wrote a change: seen in a tool event, in a shell command, by nobody we saw, by one of several turns, by no turn. */
export const sourceSchema = z.enum(['tool', 'shell', 'unknown', 'shared', 'outside'])
export type Source = z.infer<typeof sourceSchema>

export const scopeSchema = z.enum(['turn', 'from-turn', 'session', 'all-sessions'])
/** Which turns a restore undoes; see contract rule 4. */
export type Scope = z.infer<typeof scopeSchema>

/** Number of a scan in its workspace: every look at the tree, and every restore's writing, takes the next one. */
const scanSchema = z.int().min(0)
const timeSchema = z.iso.datetime()

/** One push of a path by one scan. A turn that pushed a path once has no steps: its entry is the step. */
export const stepSchema = z.strictObject({
  scan: scanSchema,
  before: stateSchema,
  after: stateSchema,
  source: sourceSchema,
})
export type Step = z.infer<typeof stepSchema>

export const entrySchema = z.strictObject({
  path: seenPathSchema,
  before: stateSchema,
  after: stateSchema,
  source: sourceSchema,
  /** The first scan that pushed this path in this turn. */
  scan: scanSchema,
  /** All pushes in order of scans, when there was more than one. */
  steps: z.array(stepSchema).nullable(),
  /** Whether the bytes of this entry leave the machine only sealed. */
  sealed: z.boolean(),
})
/** What a turn did to one path: the state before its first change and after its last. */
export type Entry = z.infer<typeof entrySchema>

export const skippedPathSchema = z.strictObject({
  path: seenPathSchema,
  reason: skipReasonSchema,
  sizeBytes: z.int().min(0).optional(),
  /** Files below, when the path is a directory that is left out whole. */
  count: z.int().min(0).optional(),
})
export type SkippedPath = z.infer<typeof skippedPathSchema>

/** A change taken off, or put back on, a path's stack, named by the turn and the scan that pushed it. */
export const changeRefSchema = z.strictObject({ path: seenPathSchema, turn: turnIdSchema, scan: scanSchema })
export type ChangeRef = z.infer<typeof changeRefSchema>

export const restoreStatusSchema = z.enum(['done', 'nothing-to-do', 'partly-done', 'refused', 'failed'])
export type RestoreStatus = z.infer<typeof restoreStatusSchema>

export const restoreDetailSchema = z.strictObject({
  id: restoreIdSchema,
  /** The turns that this restore newly marked as undone. */
  of: z.array(turnIdSchema),
  scope: scopeSchema,
  exact: z.boolean(),
  /** What was named by `--path` or `--hunk`, or null for everything. Such a restore marks turns `partly`. */
  paths: z.array(relPathSchema).nullable(),
  /** The turn that was asked for; for an undo, the turn that it found. */
  target: turnIdSchema,
  /** The restore that this one took back, or null. */
  takenBack: turnIdSchema.nullable(),
  status: restoreStatusSchema,
  /** The number that this restore's own writing takes in the order of scans. */
  scan: scanSchema,
  popped: z.array(changeRefSchema),
  /** Changes that an earlier restore had popped and that live again. Only when `takenBack` is set. */
  putBack: z.array(changeRefSchema),
  pushed: z.array(z.strictObject({ path: relPathSchema, before: stateSchema, after: stateSchema })),
})
/** What a restore did to the stacks of live changes (contract rules 5 and 6). */
export type RestoreDetail = z.infer<typeof restoreDetailSchema>

export const gitFactsSchema = z.strictObject({
  headBefore: z.string().max(64).nullable(),
  headAfter: z.string().max(64).nullable(),
  branch: z.string().max(1024).nullable(),
  operation: z.string().max(40).nullable(),
})
/** What git said of the tree when the turn began and ended, the branch being the end's; all null in a folder without git. */
export type GitFacts = z.infer<typeof gitFactsSchema>

/** Why something around a turn can not be given back: it was not captured, or it was changed before anybody looked. */
export const lossReasonSchema = z.enum([...skipReasonSchema.options, 'changed-before-start'])
export type LossReason = z.infer<typeof lossReasonSchema>

export const lossSchema = z.strictObject({
  reason: lossReasonSchema,
  count: z.int().min(1),
  /** The first of them, by name. */
  paths: z.array(seenPathSchema).max(limits.lossPaths),
})
export type Loss = z.infer<typeof lossSchema>

const countSchema = z.int().min(0)

export const coverageSchema = z.strictObject({
  /** False when something kept a scan from seeing everything; `reason` says what. */
  complete: z.boolean(),
  reason: z.string().max(500).nullable(),
  /** Files that the tree held. */
  files: countSchema,
  /** Entries by who wrote them. This and the rest are missing in manifests of older clients. */
  changes: z.record(sourceSchema, countSchema).optional(),
  /** Paths that are there and were not captured, by reason. */
  skipped: z.partialRecord(skipReasonSchema, countSchema).optional(),
  /** What a restore of this turn can not give back, by reason. */
  notRestorable: z.array(lossSchema).optional(),
})
/** How much of a turn was seen. */
export type Coverage = z.infer<typeof coverageSchema>

export const turnManifestSchema = z.strictObject({
  format: z.literal(MANIFEST_FORMAT),
  turn: turnIdSchema,
  kind: turnKindSchema,
  /** Counts all turns of the workspace, from 1, given when the turn begins. */
  number: z.int().min(1),
  /** Place in the workspace's chain of envelopes, from 1, given when the envelope is signed. */
  seq: z.int().min(1),
  /** Hex SHA-256 of the workspace's previous envelope; null for the first. */
  prev: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  machine: machineIdSchema,
  workspace: workspaceIdSchema,
  project: projectIdSchema.nullable(),
  session: z.string().max(limits.sessionCharacters).nullable(),
  agent: z
    .strictObject({
      name: z.string().max(100),
      version: z.string().max(100).nullable(),
      /** The model that it worked with, in the agent's own words; missing when nobody said. */
      model: z.string().max(100).optional(),
    })
    .nullable(),
  task: z.string().max(limits.labelCharacters).nullable(),
  label: z.string().max(limits.labelCharacters).nullable(),
  startedAt: timeSchema,
  endedAt: timeSchema,
  endReason: endReasonSchema.nullable(),
  /** The first event came after the agent had begun to act: the pre-state may already hold its work. */
  lateStart: z.boolean(),
  /** The close came from us, long after the agent's last event (contract rule 2). */
  lateEnd: z.boolean(),
  prompt: z.string().max(limits.promptCharacters).nullable(),
  lastMessage: z.string().max(limits.promptCharacters).nullable(),
  git: gitFactsSchema,
  coverage: coverageSchema,
  overlaps: z.array(turnIdSchema),
  restore: restoreDetailSchema.optional(),
  entries: z.array(entrySchema).max(limits.entriesPerTurn),
  skipped: z.array(skippedPathSchema).max(limits.entriesPerTurn),
})

/**
 * The record of one turn: written and signed by the machine that captured it, sent and stored unchanged.
 * Everything else that is known of a turn (rows, lists, marks) can be made again from these.
 */
export type TurnManifest = z.infer<typeof turnManifestSchema>
